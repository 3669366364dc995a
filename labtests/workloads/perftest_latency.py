"""Latency beside a load: `ib_send_lat` and `ib_write_lat`, ping-pong of small messages.

It ends by itself after so many messages. Its exit status is not trusted: what counts is a row of as
many messages as were asked for, whose times are in order, and no complaint. Format: linux-rdma/
perftest, print_report_lat in perftest_parameters.c.
"""

import re
from dataclasses import dataclass, replace
from typing import Literal

from labtests.capabilities.flows import FlowResult, FlowStatus, Latency
from labtests.core.errors import WorkloadError
from labtests.core.output import quoted_excerpt
from labtests.transport.commands import Shell, program
from labtests.workloads.attempt import Attempt, Party, signal_of
from labtests.workloads.perftest_words import PerftestProgram, complaints_on_stderr

_TITLES = {"send": "Send", "write": "RDMA_Write"}
_TITLE = re.compile(r"^ *(?P<title>\S+) Latency Test *$", re.MULTILINE)
_TOS = re.compile(r"\bTOS\s*:\s*(?P<tos>[0-9]+)\s*$", re.MULTILINE)
_HEADER = re.compile(
    r"^ #bytes #iterations +t_min\[usec\] +t_max\[usec\] +t_typical\[usec\] +t_avg\[usec\]"
    r" +t_stdev\[usec\] +99% percentile\[usec\] +99\.9% percentile\[usec\] *$",
    re.MULTILINE,
)
_TIME = r"\s+([0-9]{1,15}\.[0-9]{2})"
_ROW = re.compile(rf"^ ([0-9]{{1,10}}) +([0-9]{{1,12}}){_TIME * 7}\s*$", re.MULTILINE)

FIRST_PORT = 19515
"""Of probes, so that they have ports of their own beside the flows of perftest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyProbe(PerftestProgram):
    """So many messages to and fro, one after the other."""

    probes, pulls = True, False
    first_report_s = 0.0  # as soon as its messages are through
    tos: int
    port: int = FIRST_PORT
    verb: Literal["send", "write"] = "send"
    messages: int = 1000
    message_bytes: int = 2

    def __post_init__(self) -> None:
        if not (0 <= self.tos <= 255 and 5 <= self.messages < 2**31):
            problem = f"TOS {self.tos} or {self.messages} messages are out of range"
            raise WorkloadError(f"{self.name}: {problem}")

    @property
    def name(self) -> str:
        """The program."""
        return f"ib_{self.verb}_lat"

    def of_flow(self, number: int, *, seconds: float, row_every_s: int) -> "LatencyProbe":
        """See FlowTool."""
        return replace(self, port=FIRST_PORT + number)

    def server_command(self, server: Party, *, rdma: str | None) -> Shell | None:
        """`ib_send_lat -d mlx5_0 -F -n 1000 -s 2 -R -T 96 -p 19515`."""
        return program("stdbuf", "-oL", *self._arguments(rdma))

    def client_command(self, server: Party, *, rdma: str | None) -> Shell:
        """The same with the server's data address."""
        return program("stdbuf", "-oL", *self._arguments(rdma), server.address)

    def _arguments(self, rdma: str | None) -> list[str]:
        device = [] if rdma is None else ["-d", rdma]
        load = ["-n", str(self.messages), "-s", str(self.message_bytes)]
        return [self.name, *device, "-F", *load, "-R", "-T", str(self.tos), "-p", str(self.port)]

    def judge(self, blank: FlowResult, attempt: Attempt) -> FlowResult:
        """COMPLETE only with one row of the test that was asked for."""
        against = "; ".join(complaints_on_stderr(attempt.client.errors))
        status = attempt.client.status
        if attempt.running_s is None:
            return replace(blank, because=against or "it showed no table and said nothing")
        if attempt.ended_by_us:
            against = against or f"it had not done {self.messages} messages when the load ended"
        elif status:
            against = against or f"exit status {status}{signal_of(status)}"
        latency = None
        if not against:
            latency, against = self._read(attempt.client.text)
        done = FlowStatus.FAILED if against else FlowStatus.COMPLETE
        return replace(blank, status=done, because=against, latency=latency)

    def _read(self, text: str) -> tuple[Latency | None, str]:
        """The one row of the report, or why it is none."""
        title, tos = _TITLE.search(text), _TOS.search(text)
        if title is not None and title["title"] != _TITLES[self.verb]:
            return None, f"it ran a {quoted_excerpt(title['title'])} test, not {self.name}"
        if tos is not None and int(tos["tos"]) != self.tos:
            return None, f"it used TOS {tos['tos']}, not {self.tos}"
        header = _HEADER.search(text)
        rows = [] if header is None else _ROW.findall(text, header.end())
        if len(rows) != 1:
            return None, f"{len(rows)} rows of a latency table, not one"
        size, messages, *times = rows[0]
        least, most, typical, mean, _, p99, p999 = map(float, times)
        if (int(size), int(messages)) != (self.message_bytes, self.messages):
            return None, f"it sent {messages} messages of {size} bytes, not as asked"
        if not least <= typical <= p99 <= p999 <= most or not least <= mean <= most:
            return None, f"its times contradict each other: {' '.join(times)}"
        found = Latency(
            message_bytes=int(size),
            messages=int(messages),
            least_us=least,
            typical_us=typical,
            mean_us=mean,
            p99_us=p99,
            p999_us=p999,
            most_us=most,
        )
        return found, ""
