"""Traffic classes and cable length of a ConnectX port, by mlnx_qos."""

from typing import Literal

from labtests.capabilities.device import Commands
from labtests.capabilities.profile import CableLength, TrafficClasses
from labtests.capabilities.records import EtsSetting
from labtests.drivers.connectx.qos import QosSettings

_CLASSES = range(8)


class ClassSettings(QosSettings, TrafficClasses, CableLength):
    """ETS (`-p`, `-s`, `-t`) and `--cable_len`: options as in the tool's own help."""

    # -- traffic classes -----------------------------------------------------------------

    def ets(self, port: str) -> EtsSetting:
        """Raises CommandRejected when a class is not shown: the tool leaves out those that no
        priority uses, and then what would be put back is not known."""
        shown = {tc.number: tc for tc in self.nic_qos(port).traffic_classes or ()}
        if sorted(shown) != list(_CLASSES):
            self._reject(
                f"mlnx_qos -i {self._interface(port)}",
                f"it shows the traffic classes {sorted(shown)}, not all of 0 to 7",
                "give each priority a class of its own first, e.g. -p 0,1,2,3,4,5,6,7",
            )
        class_of = {p: tc.number for tc in shown.values() for p in tc.priorities}
        return EtsSetting(
            class_of_priority=tuple(class_of[p] for p in range(8)),
            algorithms=tuple(_known(shown[number].algorithm) for number in _CLASSES),
            percent=tuple(shown[number].bandwidth_percent or 0 for number in _CLASSES),
        )

    def ets_commands(self, port: str, earlier: EtsSetting, wanted: EtsSetting) -> Commands:
        """One command: the tool checks that the shares add up."""
        if earlier == wanted:
            return ()
        if sorted(wanted.class_of_priority) != list(_CLASSES):
            self._reject(
                f"mlnx_qos -i {self._interface(port)} -p",
                "priorities that share a class leave classes that the tool does not show again",
                "give each priority a class of its own",
            )
        classes = ",".join(map(str, wanted.class_of_priority))
        shares = ",".join(map(str, wanted.percent))
        algorithms = ",".join(wanted.algorithms)
        return (self._mlnx_qos(port, "-p", classes, "-s", algorithms, "-t", shares),)

    def set_ets(self, port: str, wanted: EtsSetting) -> None:
        """Apply it, and verify by read-back."""
        commands = self.ets_commands(port, self.ets(port), wanted)
        self._send(commands)
        if commands:
            self._expect_same(commands[-1], f"ETS of {port}", wanted, self.ets(port))

    # -- cable ---------------------------------------------------------------------------

    def cable_length(self, port: str) -> int:
        """In m. Raises CommandRejected when the tool does not show it."""
        length_m = self.nic_qos(port).cable_length_m
        if length_m is None:
            self._reject(
                f"mlnx_qos -i {self._interface(port)}",
                "this mlnx_qos does not show a cable length",
                "update mlnx-tools (part of MLNX_OFED and DOCA-OFED) on this host",
            )
        return length_m

    def cable_length_commands(self, port: str, earlier: int, wanted: int) -> Commands:
        """One `mlnx_qos --cable_len`."""
        if earlier == wanted:
            return ()
        return (self._mlnx_qos(port, "--cable_len", wanted),)

    def set_cable_length(self, port: str, wanted: int) -> None:
        """Apply it, and verify by read-back."""
        commands = self.cable_length_commands(port, self.cable_length(port), wanted)
        self._send(commands)
        if commands:
            found = self.cable_length(port)
            self._expect_same(commands[-1], f"cable length of {port}", wanted, found)


def _known(algorithm: str) -> Literal["ets", "strict", "vendor"]:
    return "ets" if algorithm == "ets" else "strict" if algorithm == "strict" else "vendor"
