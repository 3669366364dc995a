"""The log file: what the PFC watchdog did (document 001).

Only lines about that are asked for. How many lines there are of all kinds is asked for, too, by
which a file that was cleared, or of which the beginning is gone, is known; and the clock, by which
times are those of the lab, and which has to be behind the rest, or something was cut. `| include`
and `| count` are in published programs. From memory: that the file loses its oldest lines.
"""

import re
from dataclasses import replace
from typing import Any

from labtests.capabilities.device import WatchdogMessages
from labtests.capabilities.readings import ClockReading, DeviceLog, WatchdogMessage
from labtests.core.errors import CommandRejected
from labtests.core.output import told
from labtests.drivers.displays import LogOf, of_testbed, utc_s
from labtests.drivers.nxos.box import BESIDE, SHOWN, local_s
from labtests.drivers.nxos.session import NXOS, NxosPart, printed_port, show_ended
from labtests.drivers.parsing import incomplete, whole_lines
from labtests.transport.asking import Asking
from labtests.transport.protocol import Reply

_ABOUT = "PFCWD"
_CLOCK, _BESIDE = NXOS.shape(SHOWN.shape.text), NXOS.shape(BESIDE)
_ENTRY = re.compile(
    r"(?P<when>[0-9]{4} [A-Z][a-z]{2} [ 0-9]?[0-9] [0-9]{2}:[0-9]{2}:[0-9]{2})"
    r"(?P<fraction>\.[0-9]{1,6})? \S+ "
    r"(?:%\$? VDC-[0-9]+ %\$? )?%(?P<text>[\w-]+: .*)"
)
_WHO = r"Queue (?P<queue>[0-7]) of (?P<port>\S+) is"
_WHY = "due to PFC watchdog timer expiring"
_MESSAGES: dict[Any, re.Pattern[str]] = {
    "shut": re.compile(rf"[\w-]+PFCWD_QUEUE_SHUTDOWN: {_WHO} shutdown {_WHY}"),
    "restored": re.compile(
        rf"[\w-]+PFCWD_QUEUE_RESTORED: {_WHO} restored {_WHY}; "
        "(?P<dropped_packets>[0-9]{1,20}) egress packets/"
        "(?P<dropped_in_packets>[0-9]{1,20}) ingress packets dropped during the event"
    ),
}


def _message(entry: re.Match[str]) -> WatchdogMessage | None:
    """One that was cut is none."""
    for what, shape in _MESSAGES.items():
        if found := shape.fullmatch(entry["text"]):
            numbers = found.groupdict()
            port = printed_port(numbers.pop("port"))
            at_s = utc_s(entry["when"], "%Y %b %d %H:%M:%S") + float(entry["fraction"] or 0)
            counts = {name: int(number) for name, number in numbers.items()}
            text = told(entry[0])
            return WatchdogMessage(port=port, what=what, device_s=at_s, text=text, **counts)
    return None


_LOG = LogOf(about=re.compile(r"\S"), entry=_ENTRY, reads=_message)  # none else was asked for


def read_log(reply: Reply) -> DeviceLog[WatchdogMessage]:
    """Lines, then how many the file has, and the clock. Raises UnreadableOutput."""
    *texts, shown = [text for text in whole_lines(reply) if not _BESIDE.pattern.fullmatch(text)]
    clock, count = _CLOCK.first([shown]), texts.pop() if texts else ""
    if not clock or re.fullmatch("[0-9]{1,9}", count) is None:
        incomplete(reply, "it does not end with the number of lines, and the clock")
    found = _LOG.read(reply, texts, noted=int(count), kept=int(count))
    now = ClockReading(device_s=local_s(**clock), lab_s=reply.time_s, resolution_s=0.001)
    return replace(found, clock=now)


class NxosLog(NxosPart, WatchdogMessages):
    """What the log file has of the watchdog."""

    def watchdog_log(self) -> Asking[DeviceLog[WatchdogMessage]]:
        """See WatchdogMessages."""
        try:
            reply = yield from show_ended("logging", "logfile", only=_ABOUT, counted=True)
        except CommandRejected as refusal:
            return DeviceLog(device=self.device, missing=f"it does not show its log: {refusal}")
        return of_testbed(read_log(reply), self.cli.names, self.ports)
