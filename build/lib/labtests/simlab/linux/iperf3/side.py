"""What server and client have in common: they follow a test and report it."""

from collections.abc import Generator

from labtests.simlab.linux.calls import Call
from labtests.simlab.linux.commands.system import system_info, wall_clock
from labtests.simlab.linux.iperf3.plan import Iperf3Plan
from labtests.simlab.linux.iperf3.reporting import Json, Text
from labtests.simlab.linux.iperf3.rows import IntervalRow
from labtests.simlab.linux.iperf3.trial import NOTHING, NS_PER_S, Counts, Trial
from labtests.simlab.linux.processes import Pause
from labtests.simlab.linux.streams import Stdio

CAUGHT = {"INT", "TERM", "HUP"}


class Iperf3Side:
    """One end of a test while it runs."""

    side = ""  # "client" or "server"

    def __init__(self, call: Call, plan: Iperf3Plan) -> None:
        self.call = call
        self.plan = plan
        self.out: Stdio = call.stdio()
        self.shown = self._document()
        self._before: list[Counts] = []
        self._reported_ns = 0  # since the test's start
        self._last: list[IntervalRow] = []

    @property
    def interrupted(self) -> bool:
        """Whether a signal asks it to end."""
        return bool(self.call.process.pending)

    def _document(self) -> Text | Json:
        return Json(system_info(self.call.host.name)) if self.plan.json else Text()

    def say(self, text: str) -> None:
        """Print, unless JSON was asked for."""
        if not self.plan.json:
            self.out.write(text)
            if self.plan.flushes:
                self.out.flush()

    def complain(self, text: str) -> None:
        """An error: on stderr, or inside the JSON."""
        if isinstance(self.shown, Json):
            self.shown.error = text.removeprefix("error - ")
        else:
            self.call.err(f"iperf3: {text}\n")

    def failed(self, words: str) -> int:
        """It ends with this complaint."""
        self.complain(words)
        self.close()
        return 0 if self.plan.json else 1

    def begin(self, trial: Trial, server_port: int) -> None:
        """The streams are connected."""
        self._before = [NOTHING] * len(trial.streams)
        self._reported_ns, self._last = 0, []
        now = wall_clock(self.call)
        shown = now.strftime("%a, %d %b %Y %H:%M:%S GMT")
        timestamp = {"time": shown, "timesecs": int(now.timestamp())}
        self.say(self.shown.begin(trial, self.side, server_port, timestamp))

    def follow(self, trial: Trial, end_ns: int) -> Generator[Pause, None, bool]:
        """Report intervals up to `end_ns` of the test; False when it ended before."""
        step_ns = round(self.plan.interval_s * NS_PER_S)
        while self._reported_ns < end_ns:
            due_ns = min(self._reported_ns + step_ns, end_ns) if step_ns else end_ns
            while self._passed_ns(trial) < due_ns:
                if self.interrupted or trial.broken or trial.interrupted:
                    return False
                yield Pause(until_ns=trial.start_ns + due_ns, on=(trial.changed,))
            if step_ns:
                self.report(trial)
            else:
                self._reported_ns = end_ns
        return True

    def report(self, trial: Trial) -> None:
        """One interval: from the last report until now."""
        now_ns, counts = self._passed_ns(trial), trial.counts(self.side)
        period_ns = (self._reported_ns, now_ns)
        spans = [
            trial.span(count, period_ns, before)
            for count, before in zip(counts, self._before, strict=True)
        ]
        self._before, self._reported_ns, self._last = counts, now_ns, spans
        self.say(self.shown.interval(trial, self.side, spans))

    def repeat(self, trial: Trial) -> None:
        """The last interval once more: what 3.x prints when the other side is gone."""
        if self._last:
            self.say(self.shown.interval(trial, self.side, self._last))

    def results(
        self, trial: Trial, *, received: bool = True
    ) -> tuple[list[IntervalRow], list[IntervalRow]]:
        """(sent, received) from the start until the last report, for every stream."""
        period_ns = (0, self._reported_ns or self._passed_ns(trial))
        sent = [trial.span(stream.sent(), period_ns) for stream in trial.streams]
        got = [trial.span(stream.received(), period_ns) for stream in trial.streams]
        return sent, got if received else [trial.span(NOTHING, period_ns) for _ in got]

    def finish(self, trial: Trial, sent: list[IntervalRow], received: list[IntervalRow]) -> None:
        """The summary."""
        self.say(self.shown.finish(trial, self.side, sent, received))

    def close(self) -> None:
        """Everything comes out, and the next test begins anew."""
        if isinstance(self.shown, Json):
            self.out.write(self.shown.text())
            self.shown = self._document()
        self.out.flush()

    def _passed_ns(self, trial: Trial) -> int:
        return self.call.host.kernel.now_ns - trial.start_ns
