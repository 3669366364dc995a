"""DCQCN of a ConnectX port, in /sys/class/net/IF/ecn (MLNX_OFED, DOCA-OFED).

`roce_rp` is the reaction point (a sender that slows down on CNPs), `roce_np` the notification point
(a receiver that answers CE marks with CNPs). Both can be switched per priority in enable/<0..7>.
Parameters and their units, from the help of `mlxconfig show_confs`:

roce_rp
  clamp_tgt_rate                  0|1: a CNP also lowers the target rate to the current rate
  clamp_tgt_rate_after_time_inc   0|1: the same after an increase by time
  rpg_time_reset                  us between increases when no CNP arrives
  rpg_byte_reset                  bytes between increases when no CNP arrives; 0 = off
  rpg_threshold                   how often the byte or time stage may count before the next state
  rpg_max_rate                    Mbit/s above which a flow is released; 0 = port speed
  rpg_ai_rate, rpg_hai_rate       Mbit/s added in active and in hyper increase
  rpg_gd                          log2 of Gd: on a CNP rate := (1 - alpha/Gd) * rate
  rpg_min_dec_fac                 percent: the least that one decrease leaves of the rate
  rpg_min_rate                    Mbit/s: the floor
  rate_to_set_on_first_cnp        Mbit/s at the first CNP; 0 = port speed
  dce_tcp_g                       share of the old alpha that is kept at an update, in 1/1024
  dce_tcp_rtt                     us between updates of alpha
  rate_reduce_monitor_period      us at least between two reductions of a flow
  initial_alpha_value             alpha at the first CNP, in 1/1024
roce_np
  min_time_between_cnps           us between CNPs that the port sends
  cnp_802p_prio, cnp_dscp         marking of those CNPs
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import ClassVar

from labtests.capabilities import settings as s
from labtests.capabilities.device import DcqcnWords
from labtests.capabilities.records import DcqcnSetting
from labtests.capabilities.settings import Commands
from labtests.drivers.connectx.sysfs import (
    ECN_FOLDER,
    PRIORITIES,
    WRITTEN,
    Side,
    parse_dcqcn_parameters,
    parse_enabled_priorities,
)
from labtests.drivers.linux.session import HostPart, ShellSetting
from labtests.drivers.linux.sysfs import expect_files, files_are_missing
from labtests.transport.asking import Asking, ask
from labtests.transport.commands import Shell, program, script, write
from labtests.transport.protocol import Reply

_enabled_once = lru_cache(maxsize=512)(parse_enabled_priorities)
_parameters_once = lru_cache(maxsize=512)(parse_dcqcn_parameters)

_NAMES: dict[Side, dict[str, str]] = {
    "roce_rp": {
        "clamp_target_rate": "clamp_tgt_rate",
        "increase_timer_us": "rpg_time_reset",
        "byte_counter_bytes": "rpg_byte_reset",
        "recovery_stages": "rpg_threshold",
        "additive_increase_mbit_per_s": "rpg_ai_rate",
        "hyper_increase_mbit_per_s": "rpg_hai_rate",
        "minimum_rate_mbit_per_s": "rpg_min_rate",
        "alpha_kept_1024": "dce_tcp_g",
        "alpha_timer_us": "dce_tcp_rtt",
        "cut_interval_us": "rate_reduce_monitor_period",
        "cut_divisor_log2": "rpg_gd",
        "least_kept_percent": "rpg_min_dec_fac",
        "initial_alpha_1024": "initial_alpha_value",
    },
    "roce_np": {
        "cnp_interval_us": "min_time_between_cnps",
        "cnp_dscp": "cnp_dscp",
        "cnp_priority": "cnp_802p_prio",
    },
}
"""The field's names of parameters -> those of sysfs; the units are the same."""


class EcnFolderSetting(ShellSetting[s.T]):
    """A setting in the folder ecn/ of a port, of one side."""

    side: ClassVar[Side]
    tool = WRITTEN

    def accept(self, commands: Commands, replies: tuple[Reply, ...]) -> None:
        """Raises ToolMissing also where there is no such folder."""
        for reply in replies:
            expect_files(reply, ECN_FOLDER)
        super().accept(commands, replies)

    def _folder(self, port: str) -> str:
        return f"/sys/class/net/{self._interface(port)}/ecn/{self.side}"

    def _shown(self, port: str, command: Shell) -> Asking[Reply]:
        reply = yield from ask(command)
        if files_are_missing(reply):
            interface = f"/sys/class/net/{self._interface(port)}"
            if (yield from ask(program("test", "-e", interface))).status == 1:
                self._no_interface(reply.command, port)
        return reply


class Enabled(EcnFolderSetting[frozenset[int]]):
    """The priorities on which one side is enabled."""

    remedy = "see `dmesg`; on some firmware mlxconfig decides (ROCE_CC_PRIO_MASK)"

    def read(self, port: str) -> Asking[frozenset[int]]:
        """`PATH:VALUE` of each file, so no value can be taken for another's."""
        files = script(
            "grep -H . /sys/class/net/IF/ecn/SIDE/enable/*",
            IF=self._interface(port),
            SIDE=self.side,
        )
        return _enabled_once((yield from self._shown(port, files)))

    def commands(
        self, port: str, earlier: frozenset[int], wanted: frozenset[int], around: None = None
    ) -> Commands:
        """One `echo` for each priority that differs."""
        folder = f"{self._folder(port)}/enable"
        if not wanted <= PRIORITIES:
            self._reject(
                folder,
                f"the priorities {sorted(wanted)} are not all of 0 to 7",
                "give priorities of 0 to 7",
            )
        return tuple(
            write(int(priority in wanted), f"{folder}/{priority}")
            for priority in sorted(earlier ^ wanted)
        )

    def wrong(
        self, wanted: frozenset[int], found: frozenset[int], before: object, after: object
    ) -> str:
        """See Setting."""
        same = found == wanted
        return "" if same else f"is enabled for {sorted(found)} and not {sorted(wanted)}"


class RpEnabled(Enabled):
    """A sender that slows down on CNPs."""

    kind, side = s.REACTION_POINT, "roce_rp"


class NpEnabled(Enabled):
    """A receiver that answers CE marks with CNPs."""

    kind, side = s.NOTIFICATION_POINT, "roce_np"


class Parameters(EcnFolderSetting[DcqcnSetting]):
    """The parameters of one side (names and units: this module's docstring). Names that are not
    wanted stay as they are."""

    remedy = "see `dmesg` and the ranges in `mlxconfig -d DEV show_confs`"

    def read(self, port: str) -> Asking[DcqcnSetting]:
        """By name."""
        files = script(
            "grep -H . /sys/class/net/IF/ecn/SIDE/*", IF=self._interface(port), SIDE=self.side
        )
        reply = yield from self._shown(port, files)
        return DcqcnSetting(side=self.side, values=_parameters_once(reply))

    def commands(
        self, port: str, earlier: DcqcnSetting, wanted: DcqcnSetting, around: None = None
    ) -> Commands:
        """One `echo` for each value that differs."""
        folder, before = self._folder(port), dict(earlier.values)
        if earlier.side != self.side or wanted.side != self.side:
            problem = f"these are parameters of {wanted.side}"
            self._reject(folder, problem, f"use those of {self.side}")
        for name, value in wanted.values:
            if name not in before or value < 0:
                self._reject(
                    f"{folder}/{name}",
                    f"the value {value} is negative"
                    if name in before
                    else f"this driver has no parameter {name!r}",
                    f"the parameters are {', '.join(sorted(before))}; values are whole numbers",
                )
        return tuple(
            write(value, f"{folder}/{name}")
            for name, value in wanted.values
            if before[name] != value
        )

    def wrong(
        self, wanted: DcqcnSetting, found: DcqcnSetting, before: object, after: object
    ) -> str:
        """See Setting."""
        there = dict(found.values)
        return ", ".join(
            f"{name} is {there.get(name)}" for name, v in wanted.values if there.get(name) != v
        )


class DcqcnRp(Parameters):
    """Of the reaction point."""

    kind, side = s.DCQCN_RP, "roce_rp"


class DcqcnNp(Parameters):
    """Of the notification point."""

    kind, side = s.DCQCN_NP, "roce_np"


class FieldNames(HostPart, DcqcnWords):
    """The field's names of the parameters."""

    def dcqcn_for(self, side: Side, values: Mapping[str, int]) -> DcqcnSetting:
        """See DcqcnWords."""
        names = _NAMES[side]
        if unknown := sorted(set(values) - set(names)):
            self._reject(
                f"ecn/{side}",
                f"a ConnectX has no parameter for {', '.join(unknown)}",
                f"leave it out; there are {', '.join(sorted(names))}",
            )
        return DcqcnSetting(
            side=side, values=tuple(sorted((names[name], value) for name, value in values.items()))
        )
