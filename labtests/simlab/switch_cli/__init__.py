"""The command line of an emulated switch, with the vendor's words as data.

A platform is one `SwitchCli`: arguments and command patterns as its manual writes them, views with
prompts, settings and what they do to packets, sentences, and templates of what it prints (see
docs/new-platform.md). `CliSwitch(lab, device, cli)` is the emulated device.
"""

from labtests.simlab.switch_cli.chassis import Chassis, PortBehaviour
from labtests.simlab.switch_cli.cli import CliWords, CountingRules, Pager, SwitchCli, View
from labtests.simlab.switch_cli.commands import (
    clock,
    close,
    enter,
    enter_ports,
    leave,
    paging,
    per_port,
    remove,
    reset,
    rows,
    save,
    settings,
    to_top,
    to_view,
)
from labtests.simlab.switch_cli.configuration import (
    CliSection,
    CliSetting,
    CommandRefused,
    SectionKind,
    apply_ports,
    setting,
    top,
)
from labtests.simlab.switch_cli.device import CliSwitch
from labtests.simlab.switch_cli.grammar import CliCall, CliCommand, Problem
from labtests.simlab.switch_cli.logged import LoggingSwitch, clear_log, log_of
from labtests.simlab.switch_cli.objects import kept_by, object_views, objects, refers
from labtests.simlab.switch_cli.session import CliSession
from labtests.simlab.switch_cli.switch import EmulatedSwitch

__all__ = [
    "Chassis",
    "CliCall",
    "CliCommand",
    "CliSection",
    "CliSession",
    "CliSetting",
    "CliSwitch",
    "CliWords",
    "CommandRefused",
    "CountingRules",
    "EmulatedSwitch",
    "LoggingSwitch",
    "Pager",
    "PortBehaviour",
    "Problem",
    "SectionKind",
    "SwitchCli",
    "View",
    "apply_ports",
    "clear_log",
    "clock",
    "close",
    "enter",
    "enter_ports",
    "kept_by",
    "leave",
    "log_of",
    "object_views",
    "objects",
    "paging",
    "per_port",
    "refers",
    "remove",
    "reset",
    "rows",
    "save",
    "setting",
    "settings",
    "to_top",
    "to_view",
    "top",
]
