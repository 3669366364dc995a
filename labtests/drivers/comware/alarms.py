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
from labtests.capabilities.readings import PfcWarning, WarningLog
from labtests.capabilities.records import PfcAlarm
from labtests.capabilities.settings import PFC_ALARM
from labtests.core.output import told
from labtests.drivers.comware.session import CLI, ComwarePart, PortSetting, line
from labtests.drivers.comware.values import COMWARE, full_name
from labtests.drivers.displays import written
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
_MOST_LINES = 4096  # a log buffer has 1024 messages at most
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

    def pfc_warnings(self) -> Asking[WarningLog]:
        """See PfcWarnings."""
        return read_log((yield from CLI.answer(_LOG)))


def read_log(reply: Reply) -> WarningLog:
    """`display logbuffer`, of which lines without PFC may be left out. Any other line with it, the
    rest of one that was wrapped too, is kept as unread."""
    texts = whole_lines(reply)
    state, counts = _head(reply, texts)
    if state == "Disabled":
        return WarningLog(device=reply.device, missing="its log buffer is off")
    about = [text for text in texts if _PFC.search(text)]
    if len(about) > _MOST_LINES:
        refuse(reply, f"it has {len(about)} lines about PFC, and no log buffer has")
    found, unread, entries = list[PfcWarning](), list[str](), 0
    for text in about:
        entry = _ENTRY.fullmatch(text)
        entries += entry is not None
        warned = entry and entry["module"] == _WARNS and _WARNING.search(entry["text"])
        if entry and warned:
            found.append(_warning(entry["when"], warned))
        elif entry is None or entry["module"] != _TYPED:
            unread.append(told(text.strip()))
    if entries > counts["Current"]:
        refuse(reply, f"it has more messages than the {counts['Current']} it says")
    return WarningLog(
        device=reply.device,
        noted=sum(counts.values()),
        kept=counts["Current"],
        warnings=tuple(found),
        unread=tuple(unread),
    )


def _head(reply: Reply, texts: list[str]) -> tuple[str, dict[str, int]]:
    """Whether messages are kept, and how many there were and are. Each is told once."""
    found = [match for match in map(_HEAD.fullmatch, texts) if match]
    states = [each["state"] for each in found if each["state"]]
    counts = {each["which"]: int(each["count"]) for each in found if each["which"]}
    if len(states) != 1 or len(counts) != 2 or len(found) != 3:
        incomplete(reply, "it does not tell once how many messages there are")
    return states[0], counts


def _warning(when: str, found: re.Match[str]) -> PfcWarning:
    way: Any = _MEANT[found["way"]]
    port = full_name(found["port"]) or found["port"]
    return PfcWarning(port=port, priority=int(found["priority"]), way=way, when=when)
