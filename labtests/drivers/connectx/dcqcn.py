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

from labtests.capabilities.device import Commands, DcqcnParameters, NotificationPoint, ReactionPoint
from labtests.capabilities.profile import DcqcnWords
from labtests.capabilities.records import DcqcnSetting
from labtests.drivers.connectx.sysfs import (
    ECN_FOLDER,
    PRIORITIES,
    Side,
    expect_written,
    parse_dcqcn_parameters,
    parse_enabled_priorities,
)
from labtests.drivers.linux.session import HostSession
from labtests.drivers.linux.sysfs import files_are_missing
from labtests.transport.commands import Shell, program, script, write
from labtests.transport.protocol import Reply

# an exchange may keep an answer (exchanges.py): it is parsed once
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
        "initial_alpha_1024": "initial_alpha_value",
    },
    "roce_np": {
        "cnp_interval_us": "min_time_between_cnps",
        "cnp_dscp": "cnp_dscp",
        "cnp_priority": "cnp_802p_prio",
    },
}
"""The field's names of parameters -> those of sysfs; the units are the same."""


def enabled_command(interface: str, side: Side) -> Shell:
    """Reads the priorities of one side: `PATH:VALUE`, so no value can be taken for another's."""
    return script("grep -H . /sys/class/net/IF/ecn/SIDE/enable/*", IF=interface, SIDE=side)


def parameters_command(interface: str, side: Side) -> Shell:
    """Reads the parameters of one side likewise."""
    return script("grep -H . /sys/class/net/IF/ecn/SIDE/*", IF=interface, SIDE=side)


class DcqcnSettings(HostSession, ReactionPoint, NotificationPoint, DcqcnParameters, DcqcnWords):
    """RP and NP per priority, and their parameters (names and units: this module's docstring)."""

    # -- reaction point ------------------------------------------------------------------

    def reaction_point(self, port: str) -> frozenset[int]:
        """Priorities on which this port, as a sender, slows down on CNPs."""
        return self._enabled(port, "roce_rp")

    def reaction_point_commands(
        self, port: str, earlier: frozenset[int], wanted: frozenset[int]
    ) -> Commands:
        """One `echo` for each priority that differs."""
        return self._enable_commands(port, "roce_rp", earlier, wanted)

    def set_reaction_point(self, port: str, wanted: frozenset[int]) -> None:
        """Apply it, and verify by read-back."""
        self._set_enabled(port, "roce_rp", wanted)

    # -- notification point --------------------------------------------------------------

    def notification_point(self, port: str) -> frozenset[int]:
        """Priorities on which this port, as a receiver, answers CE marks with CNPs."""
        return self._enabled(port, "roce_np")

    def notification_point_commands(
        self, port: str, earlier: frozenset[int], wanted: frozenset[int]
    ) -> Commands:
        """One `echo` for each priority that differs."""
        return self._enable_commands(port, "roce_np", earlier, wanted)

    def set_notification_point(self, port: str, wanted: frozenset[int]) -> None:
        """Apply it, and verify by read-back."""
        self._set_enabled(port, "roce_np", wanted)

    # -- parameters ----------------------------------------------------------------------

    def dcqcn_rp(self, port: str) -> DcqcnSetting:
        """The reaction point's parameters, by name."""
        return self._parameters(port, "roce_rp")

    def dcqcn_rp_commands(self, port: str, earlier: DcqcnSetting, wanted: DcqcnSetting) -> Commands:
        """One `echo` for each value that differs."""
        return self._parameter_commands(port, "roce_rp", earlier, wanted)

    def set_dcqcn_rp(self, port: str, wanted: DcqcnSetting) -> None:
        """Apply it, and verify by read-back. Names that `wanted` leaves out stay as they are."""
        self._set_parameters(port, "roce_rp", wanted)

    def dcqcn_np(self, port: str) -> DcqcnSetting:
        """The notification point's parameters, by name."""
        return self._parameters(port, "roce_np")

    def dcqcn_np_commands(self, port: str, earlier: DcqcnSetting, wanted: DcqcnSetting) -> Commands:
        """One `echo` for each value that differs."""
        return self._parameter_commands(port, "roce_np", earlier, wanted)

    def set_dcqcn_np(self, port: str, wanted: DcqcnSetting) -> None:
        """Apply it, and verify by read-back. Names that `wanted` leaves out stay as they are."""
        self._set_parameters(port, "roce_np", wanted)

    def dcqcn_for(self, side: Side, values: Mapping[str, int]) -> DcqcnSetting:
        """See DcqcnWords. Raises CommandRejected for a name that this NIC does not have."""
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

    # -- both sides ----------------------------------------------------------------------

    def _folder(self, port: str, side: Side) -> str:
        return f"/sys/class/net/{self._interface(port)}/ecn/{side}"

    def _enabled(self, port: str, side: Side) -> frozenset[int]:
        return _enabled_once(self._read(port, enabled_command(self._interface(port), side)))

    def _enable_commands(
        self, port: str, side: Side, earlier: frozenset[int], wanted: frozenset[int]
    ) -> Commands:
        folder = f"{self._folder(port, side)}/enable"
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

    def _set_enabled(self, port: str, side: Side, wanted: frozenset[int]) -> None:
        self._enable_commands(port, side, frozenset(), wanted)  # refuses before anything is sent
        commands = self._enable_commands(port, side, self._enabled(port, side), wanted)
        self._write(commands)
        if commands and (found := self._enabled(port, side)) != wanted:
            self._reject(
                commands[-1],
                f"accepted, but {side} of {port} is enabled for {sorted(found)} "
                f"and not {sorted(wanted)}",
                "see `dmesg`; on some firmware mlxconfig decides (ROCE_CC_PRIO_MASK)",
            )

    def _parameters(self, port: str, side: Side) -> DcqcnSetting:
        reply = self._read(port, parameters_command(self._interface(port), side))
        return DcqcnSetting(side=side, values=_parameters_once(reply))

    def _parameter_commands(
        self, port: str, side: Side, earlier: DcqcnSetting, wanted: DcqcnSetting
    ) -> Commands:
        folder = self._folder(port, side)
        before = dict(earlier.values)
        if earlier.side != side or wanted.side != side:
            self._reject(folder, f"these are parameters of {wanted.side}", f"use those of {side}")
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

    def _set_parameters(self, port: str, side: Side, wanted: DcqcnSetting) -> None:
        commands = self._parameter_commands(port, side, self._parameters(port, side), wanted)
        self._write(commands)
        if not commands:
            return
        found = dict(self._parameters(port, side).values)
        wrong = [
            f"{name} is {found.get(name)}" for name, v in wanted.values if found.get(name) != v
        ]
        if wrong:
            self._reject(
                commands[-1],
                f"accepted, but on {port} {', '.join(wrong)}",
                "see `dmesg` and the ranges in `mlxconfig -d DEV show_confs`",
            )

    def _read(self, port: str, command: Shell) -> Reply:
        reply = self._run(command)
        if files_are_missing(reply):
            interface = f"/sys/class/net/{self._interface(port)}"
            if self._run(program("test", "-e", interface)).status == 1:
                self._no_interface(reply.command, port)
        return reply

    def _write(self, commands: Commands) -> None:
        for reply in self._change(commands):
            expect_written(reply, ECN_FOLDER)
