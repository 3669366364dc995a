"""How a perftest server and its client find each other, and the words when they do not."""

from collections.abc import Generator

from labtests.simlab.linux.calls import Call
from labtests.simlab.linux.options import Refused
from labtests.simlab.linux.perftest.meeting import (
    Meeting,
    PerftestListener,
    PerftestSide,
    QueuePair,
)
from labtests.simlab.linux.perftest.plan import PerftestPlan
from labtests.simlab.linux.ports import NicPort
from labtests.simlab.linux.processes import Pause

_UNREACHED = "Unable to open file descriptor for socket connection\n"
_UNCONNECTED = " Unable to init the socket connection\n"


class Contact:
    """One program's way to the other."""

    def __init__(self, call: Call, plan: PerftestPlan) -> None:
        self._call = call
        self._plan = plan
        self._service = "rdma_cm" if plan.rdma_cm else "tcp"

    def port(self) -> NicPort:
        """The port of `-d`, or the first. Raises Refused."""
        host, name = self._call.host, self._plan.device
        if not host.ports:
            raise Refused(
                " Did not detect devices \n If device exists, check if driver is up\n"
                " Unable to find the Infiniband/RoCE device\n"
            )
        port = host.ports[0] if name is None else host.rdma_port(name)
        if port is None:
            raise Refused(
                f"IB device {name} not found\n Unable to find the Infiniband/RoCE device\n"
            )
        if not port.up:
            raise Refused(
                " Port number 1 state is Down\n Couldn't set the link layer\n"
                " Couldn't get context for the device\n"
            )
        return port

    def side(self, port: NicPort) -> PerftestSide:
        """This program with fresh queue pairs."""
        random = self._call.host.random
        pairs = tuple(
            QueuePair(
                number=self._call.host.new_qpn(),
                psn=random.randrange(1 << 24),
                remote_key=random.randrange(0x1000, 0x40000),
                address=0x7F0000000000 + random.randrange(1 << 28) * 0x1000,
            )
            for _ in range(self._plan.qps)
        )
        return PerftestSide(
            plan=self._plan,
            device=self._call.host.name,
            port=port,
            process=self._call.process,
            pairs=pairs,
        )

    def listen(self, port: NicPort) -> Generator[Pause, None, Meeting]:
        """Until a client comes. Raises Refused when somebody listens on the port already."""
        key = (self._call.host.name, self._service, self._plan.port)
        listeners = self._call.host.lab.listeners
        if key in listeners:
            raise Refused(self._busy_port())
        listener = PerftestListener(process=self._call.process, side=self.side(port))
        listeners[key] = listener

        def close() -> None:
            if listeners.get(key) is listener:
                del listeners[key]

        self._call.process.at_end.append(close)
        while listener.meeting is None:
            yield Pause(on=(listener.met,))
        return listener.meeting

    def meet(self, port: NicPort) -> Meeting:
        """The server waits no more. Raises Refused when there is none."""
        listener = self._find()
        listener.meeting = Meeting(server=listener.side, client=self.side(port))
        listener.met.set()
        return listener.meeting

    def _busy_port(self) -> str:
        if self._plan.rdma_cm:  # rdma_server_connect() in perftest's source
            return "rdma_bind_addr failed\n Unable to perform rdma_server function\n" + _UNCONNECTED
        return f"Couldn't listen to port {self._plan.port}\n" + _UNREACHED + _UNCONNECTED

    def _find(self) -> PerftestListener:
        lab, address = self._call.host.lab, self._plan.server or ""
        device = lab.device_with_address(address) or ""
        if self._plan.rdma_cm and self._call.host.route(address) is None:
            raise Refused(self._unconnected("rdma_resolve_addr failed"))
        key = (device, self._service, self._plan.port)
        if isinstance(lab.listeners.get(key), PerftestListener) and device != self._call.host.name:
            listener: PerftestListener = lab.listeners.pop(key)
            return listener
        if self._plan.rdma_cm:
            raise Refused(self._unconnected("Unexpected CM event bl blka 8"))
        raise Refused(
            f"Couldn't connect to {address}:{self._plan.port}\n" + _UNREACHED + _UNCONNECTED
        )

    def _unconnected(self, reason: str) -> str:
        return f"{reason}\n Unable to perform rdma_client function\n" + _UNCONNECTED
