"""What lossless classes of a port may hold, by `show queuing interface`."""

from labtests.capabilities.device import MemoryLimits
from labtests.capabilities.records import PortMemory, PriorityMemory
from labtests.drivers.nxos.egress import NxosEcn
from labtests.drivers.nxos.queuing import QUEUING
from labtests.drivers.nxos.session import NxosPart
from labtests.transport.asking import Asking


class NxosMemory(NxosPart, MemoryLimits):
    """Thresholds of the classes that pause, as in force; and the curves of queues."""

    def memory_limits(self, port: str) -> Asking[PortMemory]:
        """See MemoryLimits. Of what a class shares, nothing is told."""
        _, shown = yield from self.shown(QUEUING, port)
        ecn = yield from NxosEcn(self.device).read(port)
        return PortMemory(
            priorities=tuple(
                PriorityMemory(
                    priority=queue, headroom_bytes=each.size - each.pause, static_bytes=each.pause
                )
                for queue, each in sorted(shown.buffers.items())
                if each.size >= each.pause
            ),
            kmax_bytes=tuple((each.queue, each.high_limit) for each in ecn.queues if each.ecn),
        )
