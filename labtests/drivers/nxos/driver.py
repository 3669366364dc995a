"""What a suite may ask of a Nexus 9000 with NX-OS."""

from collections.abc import Iterator
from typing import Literal

from labtests.drivers.displays import CliState, in_the_way
from labtests.drivers.nxos import egress, pfc, ports, trust, watchdog
from labtests.drivers.nxos.box import NxosBox
from labtests.drivers.nxos.configuration import Configured, configured
from labtests.drivers.nxos.interfaces import NxosInterfaces
from labtests.drivers.nxos.logfile import NxosLog
from labtests.drivers.nxos.queuing import NxosQueues
from labtests.drivers.nxos.session import CLI
from labtests.drivers.nxos.streams import NxosStreams
from labtests.drivers.parts import drivers
from labtests.transport.asking import Asking, both

SESSION = "cisco_nxos"
"""How it is reached: netmiko's device type for NX-OS."""

KIND: Literal["host", "switch"] = "switch"

# the start of a line, and what it does to a test
_AT_A_PORT = (
    ("flowcontrol ", "802.3x flow control is on: it pauses all priorities where PFC is off"),
    ("priority-flow-control watch-dog-interval on", "the PFC watchdog may shut a queue in a run"),
)
_IN_A_POLICY = (("shape ", "a queue is shaped: it is slower than its link"),)


class NxosState(CliState):
    """What of the configuration stands in the way."""

    cli = CLI

    def obstacles(self) -> Asking[tuple[str, ...]]:
        """What would undo or distort a test's settings."""
        of, timeout = yield from both(configured(), watchdog.NxosPauseTimeout(self.device).read(""))
        edge = (f"a pause of {timeout.timeout_ms} ms drops all that leaves an FCoE port",)
        return (*_obstacles(of), *(edge if timeout.on else ()))

    def interfaces(self) -> Asking[tuple[str, ...]]:
        """See CliState."""
        return tuple((yield from configured()).ports)


def _obstacles(of: Configured) -> Iterator[str]:
    for name, section in of.ports.items():
        lines = (text for text in section.lines if not text.endswith(" off"))
        yield from in_the_way(name, lines, _AT_A_PORT)
    for key in sorted(of.needed & of.policies.keys()):
        for block in of.policies[key]:
            where = f"policy-map {key[1]}, class {block.name}"
            yield from in_the_way(where, block.lines, _IN_A_POLICY)


_SETTINGS = (
    *(pfc.NxosPfc, trust.NxosTrust, egress.NxosEcn, egress.NxosScheduling),
    *(trust.NxosDscpMap, trust.NxosQueueMap, ports.NxosFrameLimit, ports.NxosHeadroom),
    *(ports.NxosThresholds, watchdog.NxosWatchdogTimes, watchdog.NxosWatchdog),
    *(watchdog.NxosPauseTimeout, ports.NxosPortState),
)
_PARTS = (
    *(NxosQueues, egress.NxosMemory, pfc.NxosPfcFrames, NxosInterfaces),
    *(watchdog.NxosWatchdogCounters, NxosLog, NxosState, watchdog.NxosFcoe, NxosBox, NxosStreams),
)
driver_of = drivers(_SETTINGS, _PARTS)
