"""Flows as the programs that made them see them: how far they are, and stop()."""

from typing import Any

from labtests.network.model import NetworkModel
from labtests.network.tables import ACTIVE, DRAINING, ENDED


class _Flow:
    """One or more rows of the flow table that belong to one request."""

    def __init__(self, network: NetworkModel, rows: tuple[int, ...]) -> None:
        self._network = network
        self._rows = rows

    def _sum(self, column: str) -> int:
        return sum(int(getattr(record, column)) for record in self.records())

    def records(self) -> list[Any]:
        """Its rows of the flow table."""
        return [self._network.tables.flow[row] for row in self._rows]

    @property
    def done(self) -> bool:
        """Whether nothing new will be sent: stopped, finished, or failed."""
        return all(record.life == ENDED for record in self.records())

    def stop(self) -> None:
        """Nothing new is sent from now on; what is in flight drains."""
        for record in self.records():
            if record.life == ACTIVE:
                record.life = ENDED
                self._network.tables.clock[0].active_flows -= 1


class RcFlow(_Flow):
    """Queue pairs of one RDMA program."""

    @property
    def messages_completed(self) -> int:
        """Messages that the requester knows to be done (its completions)."""
        total = 0
        for record in self.records():
            psn = int(record.expected_psn if record.read else record.una_psn)
            packets = int(record.packets_per_message)
            total += -(-psn // packets) if psn == record.total_psn else psn // packets
        return total

    def undelivered_rows(self) -> list[int]:
        """Those of its rows whose last byte has not arrived."""
        table = self._network.tables.flow
        return [row for row in self._rows if table[row].expected_psn < table[row].total_psn]

    @property
    def delivered_bytes(self) -> int:
        """Payload that has arrived in order at its receiver."""
        return self._sum("delivered_bytes")

    @property
    def retransmitted_packets(self) -> int:
        """Data packets sent again."""
        return self._sum("retransmits")

    @property
    def completion_ps(self) -> int | None:
        """From its start until the requester knew its last message to be done; None: not yet.

        A flow without an end (no `messages`), one that was stopped or that failed has none.
        """
        records = self.records()
        if any(record.ended_at == 0 or record.error for record in records):
            return None
        started = min(int(record.start_at) for record in records)
        return max(int(record.ended_at) for record in records) - started

    @property
    def error_status(self) -> int | None:
        """ibv_wc_status of the first queue pair that failed (12: retries exhausted), or None."""
        failed = [int(record.error) for record in self.records() if record.error]
        return failed[0] if failed else None


class UdpFlow(_Flow):
    """One UDP socket that sends."""

    @property
    def sent_datagrams(self) -> int:
        """Datagrams whose last fragment has left the NIC."""
        return self._sum("sent_datagrams")

    @property
    def sent_bytes(self) -> int:
        """Payload of the sent datagrams."""
        record = self.records()[0]
        return self.sent_datagrams * int(record.datagram_bytes)

    @property
    def received_datagrams(self) -> int:
        """Datagrams that the receiver has put together."""
        return self._sum("received")

    @property
    def received_bytes(self) -> int:
        """Payload of the received datagrams."""
        return self._sum("delivered_bytes")

    @property
    def lost_datagrams(self) -> int:
        """Sent but not received; those still under way are in it until the network is idle."""
        return self.sent_datagrams - self.received_datagrams

    @property
    def under_way_datagrams(self) -> int:
        """At most so many are between the two NICs, when none of their fragments was lost."""
        return sum(-(-int(r.in_flight) // int(r.fragments)) for r in self.records())

    def stop(self) -> None:
        """The program writes nothing more; what its socket holds is still sent."""
        clock = self._network.tables.clock[0]
        for record in self.records():
            if record.life == ACTIVE and record.backlog > 0:
                record.life = DRAINING
            elif record.life == ACTIVE:
                record.life = ENDED
                clock.active_flows -= 1


class TcpFlow(_Flow):
    """The TCP connections of one program."""

    @property
    def acked_bytes(self) -> int:
        """Payload whose acknowledgement has come back."""
        return sum(int(each.una_psn) * int(each.payload_bytes) for each in self.records())

    @property
    def delivered_bytes(self) -> int:
        """Payload that has arrived in order."""
        return self._sum("delivered_bytes")

    @property
    def retransmits(self) -> int:
        """Segments sent again."""
        return self._sum("retransmits")
