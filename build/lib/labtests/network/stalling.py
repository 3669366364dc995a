"""Programs of a host that stand still, as after a SIGSTOP: what they would send is not sent.

The NIC still sends what a program has handed over: RC messages that are begun are finished, and
answered. What was not written meanwhile is not made up for.
"""

from typing import Any

from labtests.network.events import wake_port
from labtests.network.flows import make_ready, wake_flow_by
from labtests.network.model import NetworkModel
from labtests.network.reliable import window_end
from labtests.network.tables import ACTIVE, PS_PER_NS, RC, UDP


class Programs:
    """What the programs behind one NIC port send. Made by Nic."""

    def __init__(self, network: NetworkModel, host: int) -> None:
        self._network, self._host = network, host
        self._depths: dict[int, int] = {}  # of RC flows that stand still: what they may have out

    def hold(self, until_ns: int) -> None:
        """They write nothing before then. To be said again every millisecond or so: flows may have
        begun since, or have a message to finish."""
        for row in self._sending():
            record = self._network.tables.flow[row]
            if record.kind == RC:
                self._hold_messages(row, record)
            else:
                due = "next_datagram" if record.kind == UDP else "start_at"
                record[due] = max(int(record[due]), until_ns * PS_PER_NS)
                wake_flow_by(self._network.state, row, int(record[due]))

    def go_on(self) -> None:
        """They write again."""
        held, self._depths = self._depths, {}
        for row, depth in held.items():
            record = self._network.tables.flow[row]
            record.depth_messages = depth
            record.window_psn = max(int(record.window_psn), window_end(self._network.state, row))
            self._look_again(row, record)

    def lose_written(self, since_ns: int) -> int:
        """What UDP programs have written since then, while their link was down: it left them and
        is gone. In packets."""
        return sum(
            self._lose_datagrams(self._network.tables.flow[row], since_ns * PS_PER_NS)
            for row in self._sending()
            if self._network.tables.flow[row].kind == UDP
        )

    def _sending(self) -> list[int]:
        flows = self._network.tables.flow[: self._network.flow_rows]
        here = (flows.source == self._host) & (flows.life == ACTIVE) & (flows.read == 0)
        return [int(row) for row in here.nonzero()[0]]

    def _hold_messages(self, row: int, record: Any) -> None:
        """No new message: the window ends where the one that is begun does."""
        per_message = int(record.packets_per_message)
        if row not in self._depths:
            self._depths[row] = int(record.depth_messages)
            record.depth_messages = 0
        begun = -(-int(max(record.next_psn, record.sent_psn)) // per_message) * per_message
        record.window_psn = begun
        if record.next_psn < begun:
            self._look_again(row, record)

    def _look_again(self, row: int, record: Any) -> None:
        if record.life == ACTIVE and record.next_psn < record.window_psn:
            make_ready(self._network.state, row)
            wake_port(self._network.state, int(record.lane) >> 3)

    def _lose_datagrams(self, record: Any, since_ps: int) -> int:
        now = int(self._network.tables.clock[0].now)
        began = max(int(record.start_at), since_ps)
        written = max(now - began, 0) // int(record.interval_ps)
        lost = written - int(record.backlog)  # its socket still has those
        if lost <= 0:
            return 0
        sent_of_the_first = int(record.fragment)
        record.fragment = 0
        record.datagram += lost
        record.sent_datagrams += lost
        self._network.tables.host[self._host].udp_out += lost
        return lost * int(record.fragments) - sent_of_the_first
