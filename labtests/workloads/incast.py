"""An incast: several streams, staggered, followed and ended together.

All servers are up before the first client starts. Time zero is when the first client is seen to
send. A client that fails to connect for a reason that may pass is tried again with a fresh server
(the old one may wait for ever), and the failure is recorded.
"""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain

from labtests.capabilities.flows import FlowResult
from labtests.core.errors import WorkloadError
from labtests.transport.protocol import Clock, wait_until
from labtests.workloads.crowd import parts, together
from labtests.workloads.flow import (
    READY_DEADLINE_S,
    START_DEADLINE_S,
    STEP_S,
    TRIES,
    Flow,
    IncastState,
)
from labtests.workloads.sampling import Sampler, Sampling, sampler
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
    sample_takes_s: float = 0.0,
    progress: Callable[[str], None] | None = None,
) -> tuple[FlowResult, ...]:
    """Every stream's result, in order, after `duration_s` since the first one sent. A stream that
    is more than one process can send is several processes, and one result (crowd.py).

    `during(now_s)` is called every `sample_every_s` of lab time; no start and no end waits for it
    (sampling.py; `sample_takes_s` is what is known of that before the first one). Whatever is
    raised meanwhile, all processes are ended before it leaves. WorkloadError: the streams cannot
    make an incast, or a process survived. A stream that never started is INFRASTRUCTURE and ends
    the run for all.
    """
    crowds = [parts(stream) for stream in streams]
    _check(tuple(chain.from_iterable(crowds)), duration_s)
    patience_s = READY_DEADLINE_S + TRIES * (READY_DEADLINE_S + START_DEADLINE_S) + END_DEADLINE_S
    every_s = float("inf") if sample_every_s is None else sample_every_s
    sampling = during and Sampling(during=during, every_s=every_s, takes_s=sample_takes_s)
    with (
        Processes(clock, limit_s=duration_s + patience_s + 60.0) as processes,
        closing(sampler(sampling, clock)) as samples,
    ):
        scene = IncastState(processes=processes, clock=clock, say=progress or (lambda _: None))
        crews = [[Flow(stream=part, scene=scene) for part in crowd] for crowd in crowds]
        run = _IncastRun(scene, tuple(chain.from_iterable(crews)))
        run.bring_up_servers()
        run.follow(duration_s, samples)
        run.end()
        samples.end()
        return tuple(together(tuple(flow.conclude() for flow in crew)) for crew in crews)


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
            raise WorkloadError(f"{stream}: another stream uses the same port there")


@dataclass(slots=True)
class _IncastRun:
    """All flows of one incast. `zero_s` is when the first one was seen to send."""

    scene: IncastState
    flows: tuple[Flow, ...]
    zero_s: float | None = None

    def bring_up_servers(self) -> None:
        """Every server waits for its client; or the run is called off."""
        for flow in self.flows:
            flow.start_server()
        for flow in self.flows:
            if not self.scene.called_off:
                flow.wait_for_server()

    def follow(self, duration_s: float, samples: Sampler) -> None:
        """Start what is due and watch what runs, until the time is over or the run called off."""
        while not self.scene.called_off:
            now_s = self.scene.clock.now_s()
            for flow in sorted(self.flows, key=lambda flow: flow.client is not None):
                flow.step(now_s, 0.0 if self.zero_s is None else now_s - self.zero_s)
            if self.zero_s is None:
                self._set_zero()
            elif now_s >= self.zero_s + duration_s - 1e-9 or self._all_ended():
                return
            if self.zero_s is not None:
                samples.sample(now_s, next_s=self._next_s(now_s, duration_s))
            self.scene.clock.sleep(self._step_s(duration_s))

    def _next_s(self, now_s: float, duration_s: float) -> float:
        """When the next flow is to start, or all are to end."""
        assert self.zero_s is not None
        starts = [self.zero_s + flow.stream.starts_after_s for flow in self.flows]
        return min([s for s in starts if s > now_s], default=self.zero_s + duration_s)

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
