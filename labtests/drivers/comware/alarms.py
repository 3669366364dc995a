"""Early warning by pause frames a second: the thresholds of a port, and what the log says.

Commands: H3C, "Configuring PFC" (white paper, 3.2.3); how a log buffer looks: H3C's command
reference. From memory: each `undo`, that a port stores one line for each list of priorities, the
sentence of a warning, and that `include` takes alternatives. Only lines about PFC are asked for: a
log has what people typed, passwords too.
"""

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from labtests.capabilities.device import PfcWarnings
from labtests.capabilities.readings import DeviceLog, PfcWarning
from labtests.capabilities.records import PfcAlarm
from labtests.capabilities.settings import PFC_ALARM
from labtests.drivers.comware.session import CLI, ComwarePart, PortSetting, line
from labtests.drivers.comware.values import COMWARE, full_name
from labtests.drivers.displays import LogOf, of_testbed, written
from labtests.drivers.parsing import incomplete, refuse, whole_lines
from labtests.transport.asking import Asking
from labtests.transport.commands import CliLine, cli
from labtests.transport.protocol import Reply

_WORDS = ("priority-flow-control", "early-warning", "dot1p")
_WAYS = {"received": "inpps", "sent": "outpps"}
_LINE = COMWARE.shape(
    "priority-flow-control early-warning dot1p <listed:priorities> <way:inpps|outpps> "
    "<frames:number>"
)
_ABOUT = r"(?:undo )?priority-flow-control early-warning"


class ComwarePfcAlarm(PortSetting[PfcAlarm]):
    """Thresholds by priority, in and out."""

    kind = PFC_ALARM

    def read(self, port: str) -> Asking[PfcAlarm]:
        """From the port's configuration."""
        reply, section = yield from self.configured(port)
        section.expect_known(reply, _ABOUT, _LINE)
        found: dict[str, dict[int, int]] = {way: {} for way in _WAYS.values()}
        for each in section.each(reply, _LINE):
            if each["listed"] & found[each["way"]].keys():
                refuse(reply, f"a priority has two lines `{' '.join(_WORDS)} ... {each['way']}`")
            found[each["way"]] |= dict.fromkeys(each["listed"], each["frames"])
        return PfcAlarm(**{n: tuple(sorted(found[way].items())) for n, way in _WAYS.items()})

    def lines(self, port: str, earlier: PfcAlarm, wanted: PfcAlarm) -> Iterator[CliLine]:
        """One line for priorities with the same threshold; what differs is undone before."""
        for name, way in _WAYS.items():
            before, after = dict(getattr(earlier, name)), dict(getattr(wanted, name))
            gone = {p for p in before if before[p] != after.get(p)}
            if gone:
                yield line("undo", *_WORDS, written(gone), way)
            new = sorted((n, p) for p, n in after.items() if before.get(p) != n)
            for frames, each in groupby(new, key=lambda found: found[0]):
                yield line(*_WORDS, written({p for _, p in each}), way, frames)


# -- the log ---------------------------------------------------------------------------------------

_LOG = cli(re.compile(r"[A-Za-z|]+"), "display", "logbuffer", "|", "include", "PFC|buffer|messages")
_HEAD = re.compile(
    r"\s*(?:Log buffer: (?P<state>Enabled|Disabled)"
    r"|(?P<which>Overwritten|Current) messages: (?P<count>[0-9]{1,18}))\s*"
)
_ENTRY = re.compile(
    r"\s*%(?P<when>[A-Z][a-z]{2} +[0-9]{1,2} [0-9:.]+ [0-9]{4}) \S+ (?P<module>\w+)/[0-7]/\w+: ?"
    r"(?P<text>.*)"
)
_PFC = re.compile("PFC", re.IGNORECASE)
_TYPED = "SHELL"  # what people, and labtests, have typed
_WARNS = "PFC"  # other modules' lines have names in them that anybody may choose
_WARNING = re.compile(
    r"On interface (?P<port>\S+), the rate of (?P<way>input|output) PFC packets of 802\.1p "
    r"priority (?P<priority>[0-7]) exceed(?:s|ed) the PFC early-warning threshold"
)
_MEANT = {"input": "received", "output": "sent"}


class ComwareWarnings(ComwarePart, PfcWarnings):
    """What the log buffer has of PFC."""

    def pfc_warnings(self) -> Asking[DeviceLog[PfcWarning]]:
        """See PfcWarnings."""
        return of_testbed(read_log((yield from CLI.answer(_LOG))), CLI.names, self.ports)


def _warning(entry: re.Match[str]) -> PfcWarning | None:
    found = _WARNING.search(entry["text"]) if entry["module"] == _WARNS else None
    if found is None:
        return None
    way: Any = _MEANT[found["way"]]
    port = full_name(found["port"]) or found["port"]
    return PfcWarning(port=port, priority=int(found["priority"]), way=way, when=entry["when"])


_OF_PFC = LogOf(
    about=_PFC, entry=_ENTRY, reads=_warning, passed=lambda entry: entry["module"] == _TYPED
)


def read_log(reply: Reply) -> DeviceLog[PfcWarning]:
    """`display logbuffer`, of which lines without PFC may be left out."""
    texts = whole_lines(reply)
    state, counts = _head(reply, texts)
    if state == "Disabled":
        return DeviceLog(device=reply.device, missing="its log buffer is off")
    return _OF_PFC.read(reply, texts, noted=sum(counts.values()), kept=counts["Current"])


def _head(reply: Reply, texts: list[str]) -> tuple[str, dict[str, int]]:
    """Whether messages are kept, and how many there were and are. Each is told once."""
    found = [match for match in map(_HEAD.fullmatch, texts) if match]
    states = [each["state"] for each in found if each["state"]]
    counts = {each["which"]: int(each["count"]) for each in found if each["which"]}
    if len(states) != 1 or len(counts) != 2 or len(found) != 3:
        incomplete(reply, "it does not tell once how many messages there are")
    return states[0], counts
