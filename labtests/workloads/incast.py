"""An incast: several streams, staggered, followed and ended together.

All servers are up before the first client starts. Time zero is when the first client is seen to
send. A client that fails to connect for a reason that may pass is tried again with a fresh server
(the old one may wait for ever), and the failure is recorded.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from labtests.errors import WorkloadError
from labtests.records import FlowResult
from labtests.transport import Clock, wait_until
from labtests.workloads.flow import READY_DEADLINE_S, START_DEADLINE_S, STEP_S, TRIES, Flow, Scene
from labtests.workloads.streams import Processes, Stream

END_DEADLINE_S = 10.0
"""A tool that ends by itself may need this long to exchange its results."""


def incast(  # noqa: PLR0913 - one call is one experiment; each keyword is one of its facts
    streams: tuple[Stream, ...],
    *,
    clock: Clock,
    duration_s: float,
    during: Callable[[float], None] | None = None,
    sample_every_s: float | None = None,
    progress: Callable[[str], None] | None = None,
) -> tuple[FlowResult, ...]:
    """Every stream's result, in order, after `duration_s` since the first one sent.

    `during(now_s)` is called every `sample_every_s` of lab time. Whatever is raised meanwhile, all
    processes are ended before it leaves. WorkloadError: the streams cannot make an incast, or a
    process survived. A stream that never started is INFRASTRUCTURE and ends the run for all.
    """
    _check(streams, duration_s)
    patience_s = READY_DEADLINE_S + TRIES * (READY_DEADLINE_S + START_DEADLINE_S) + END_DEADLINE_S
    with Processes(clock, limit_s=duration_s + patience_s + 60.0) as processes:
        scene = Scene(processes=processes, clock=clock, say=progress or (lambda _: None))
        run = _Run(scene, tuple(Flow(stream=stream, scene=scene) for stream in streams))
        run.bring_up_servers()
        run.follow(duration_s, _Sampler(during, sample_every_s))
        run.end()
        return tuple(flow.conclude() for flow in run.flows)


def _check(streams: tuple[Stream, ...], duration_s: float) -> None:
    """Mistakes that would only show after the run."""
    if not streams or min(stream.starts_after_s for stream in streams) != 0:
        raise WorkloadError("an incast needs streams, and one that starts after 0 s")
    ports = [(s.server.name, s.tool.port) for s in streams]
    for stream in streams:
        shows_after_s = stream.starts_after_s + stream.tool.first_report_s
        if shows_after_s > duration_s:
            raise WorkloadError(
                f"{stream}: its first figures come {shows_after_s:g} s after the start, "
                f"but the incast lasts {duration_s:g} s"
            )
        if ports.count((stream.server.name, stream.tool.port)) > 1:
            raise WorkloadError(f"{stream}: another stream uses this port there too")


@dataclass(slots=True)
class _Sampler:
    """Calls `during` when it is due; a call that took longer than its period skips some."""

    during: Callable[[float], None] | None
    every_s: float | None
    due_s: float | None = None

    def sample(self, now_s: float) -> None:
        """Call it if it is due."""
        if self.during is None or (self.due_s is not None and now_s < self.due_s - 1e-9):
            return
        self.during(now_s)
        period_s = self.every_s or float("inf")
        self.due_s = now_s + period_s


@dataclass(slots=True)
class _Run:
    """All flows of one incast. `zero_s` is when the first one was seen to send."""

    scene: Scene
    flows: tuple[Flow, ...]
    zero_s: float | None = None

    def bring_up_servers(self) -> None:
        """Every server waits for its client; or the run is called off."""
        for flow in self.flows:
            flow.start_server()
        for flow in self.flows:
            if not self.scene.called_off:
                flow.wait_for_server()

    def follow(self, duration_s: float, sampler: _Sampler) -> None:
        """Start what is due and watch what runs, until the time is over or the run called off."""
        while not self.scene.called_off:
            now_s = self.scene.clock.now_s()
            for flow in self.flows:
                flow.step(now_s, 0.0 if self.zero_s is None else now_s - self.zero_s)
            if self.zero_s is None:
                self._set_zero()
            elif now_s >= self.zero_s + duration_s - 1e-9 or self._all_ended():
                return
            if self.zero_s is not None:
                sampler.sample(now_s)
            self.scene.clock.sleep(self._step_s(duration_s))

    def _set_zero(self) -> None:
        running = [flow.running_s for flow in self.flows if flow.running_s is not None]
        self.zero_s = min(running, default=None)
        if self.zero_s is None and self._all_ended(at_start=True):
            self.scene.called_off = "no stream sent anything"

    def _step_s(self, duration_s: float) -> float:
        """Up to the end, in small steps: a start or a sample is late by one step at most."""
        if self.zero_s is None:
            return STEP_S
        left_s = self.zero_s + duration_s - self.scene.clock.now_s()
        return max(min(STEP_S, left_s), 1e-3)

    def _all_ended(self, *, at_start: bool = False) -> bool:
        flows = [f for f in self.flows if not at_start or f.stream.starts_after_s == 0]
        return all(flow.ended_s is not None for flow in flows)

    def end(self) -> None:
        """Wait for the tools that end by themselves about now; end the others, all at once."""
        if not self.scene.called_off:
            ending = [flow for flow in self.flows if flow.ends_itself_by_now()]
            self._wait_for(ending, END_DEADLINE_S)
        for flow in self.flows:
            flow.interrupt()
        self._wait_for(self.flows, END_DEADLINE_S)

    def _wait_for(self, flows: Sequence[Flow], deadline_s: float) -> None:
        def ended() -> bool:
            looked_at = [flow.client_has_ended() for flow in flows]
            return all(looked_at)

        wait_until(self.scene.clock, ended, deadline_s=deadline_s, step_s=STEP_S)
