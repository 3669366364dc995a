"""An incast on a paper lab: what is started when, what is ended always, what counts as proof."""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from threading import Event

import pytest
from stage import BANNER, HEADER, PaperClock, PaperHost, PaperProcess, Script, rows, server

from labtests.capabilities.flows import FlowResult, FlowStatus
from labtests.core.clock import WallClock
from labtests.core.errors import CommandTimeout, LabErrors, WorkloadError
from labtests.workloads import Iperf3, Party, Perftest, Stream, incast

Plays = Callable[[str, int], Script]
CLIENT = "192.168.10.12"


class Lab:
    """ServerA and ServerB send to ServerC; `clients` and `servers` override what they play."""

    def __init__(self, clients: Plays | None = None, servers: Plays | None = None) -> None:
        self.clock = PaperClock()
        self.a = PaperHost("ServerA", self.clock, clients or steady(9.26))
        self.b = PaperHost("ServerB", self.clock, steady(4.36))
        self.c = PaperHost("ServerC", self.clock, servers or (lambda command, before: server()))
        self.said: list[str] = []

    @property
    def hosts(self) -> tuple[PaperHost, ...]:
        return (self.a, self.b, self.c)

    def streams(self) -> tuple[Stream, Stream]:
        receiver = Party(name="ServerC", transport=self.c, address=CLIENT, rdma="mlx5_0")
        early, late = (
            Stream(
                sender=Party(name=host.device, transport=host, address="x", rdma="mlx5_1"),
                receiver=receiver,
                tool=Perftest(tos=96, port=port, report_every_s=1),
                starts_after_s=starts,
            )
            for host, port, starts in ((self.a, 5000, 0.0), (self.b, 5001, 3.0))
        )
        return early, late

    def run(
        self, streams: tuple[Stream, ...] | None = None, **options: object
    ) -> tuple[FlowResult, ...]:
        return incast(
            streams or self.streams(),
            clock=self.clock,
            duration_s=8.0,
            progress=self.said.append,
            **options,  # type: ignore[arg-type]
        )

    def nothing_runs(self) -> bool:
        processes = [process for host in self.hosts for process in host.started]
        return all(process.closed and process.status() is not None for process in processes)


def steady(goodput_gbit_per_s: float) -> Plays:
    return lambda command, before: Script(prints=rows(*[goodput_gbit_per_s] * 30))


def test_the_command_lines_are_those_of_document_000() -> None:
    lab = Lab()
    early, _ = lab.streams()
    assert early.server_command == (
        "stdbuf -oL ib_send_bw -d mlx5_0 --report_gbits -F --run_infinitely -D 1 -R -T 96 -p 5000"
    )
    assert early.client_command == (
        "stdbuf -oL ib_send_bw -d mlx5_1 --report_gbits -F --run_infinitely -D 1 -R -T 96 -p 5000 "
        + CLIENT
    )


def test_servers_come_first_and_senders_are_staggered() -> None:
    lab = Lab()
    lab.run()
    servers, (early,), (late,) = lab.c.started, lab.a.started, lab.b.started
    ready_s = max(process.started_s for process in servers) + 0.2
    assert early.started_s >= ready_s - 1e-3
    began_s = early.started_s + 0.5  # its header
    assert late.started_s == pytest.approx(began_s + 3.0, abs=0.21)


def test_both_flows_are_complete_with_their_series_on_the_labs_clock() -> None:
    lab = Lab()
    early, late = lab.run()
    assert (early.status, late.status) == (FlowStatus.COMPLETE, FlowStatus.COMPLETE)
    assert early.goodput_bits_per_s == pytest.approx(9.26e9)
    assert len(early.intervals) in (7, 8)
    assert early.intervals[0].start_s == pytest.approx(lab.a.started[0].started_s + 0.5, abs=0.11)
    gaps = [b.start_s - a.end_s for a, b in pairwise(early.intervals)]
    assert gaps == pytest.approx([0.0] * len(gaps))
    assert late.intervals[0].start_s > early.intervals[2].start_s
    assert (early.sender, early.receiver, early.tool, early.tos) == (
        "ServerA",
        "ServerC",
        "ib_send_bw",
        96,
    )
    assert lab.nothing_runs()


def test_samples_are_taken_in_lab_time_while_it_sends() -> None:
    lab, times = Lab(), list[float]()
    lab.run(during=times.append, sample_every_s=2.0)
    steps = [b - a for a, b in pairwise(times)]
    assert len(times) in (4, 5)
    assert steps == pytest.approx([2.0] * len(steps), abs=0.15)


@pytest.mark.parametrize("takes_s", [0.0, 1.3, 7.0])
def test_no_start_and_no_end_waits_for_samples_of_a_slow_host(takes_s: float) -> None:
    """A command there takes seconds of a clock that moves only when it is asked to."""
    quick, slow, times = Lab(), Lab(), list[float]()
    quick.run(during=lambda _: None, sample_every_s=0.5)

    def during(now_s: float) -> None:
        times.append(now_s)
        slow.clock.sleep(takes_s)

    slow.run(during=during, sample_every_s=0.5, sample_takes_s=takes_s)
    for host, other in zip(slow.hosts, quick.hosts, strict=True):
        for process, same in zip(host.started, other.started, strict=True):
            assert process.started_s == pytest.approx(same.started_s, abs=0.11)
            assert process.ended is not None
            assert same.ended is not None
            assert process.ended[0] == pytest.approx(same.ended[0], abs=0.11)
    # alone for 3 s, then together for 5 s: so many whole samples fit, of the other length none
    assert len(times) == {0.0: 16, 1.3: 2 + 3, 7.0: 0}[takes_s]


def test_samples_that_have_become_slow_are_left_out_before_a_start() -> None:
    lab, times = Lab(), list[float]()

    def during(now_s: float) -> None:
        times.append(now_s)
        lab.clock.sleep(0.0 if len(times) < 3 else 1.8)

    lab.run(during=during, sample_every_s=0.5)
    (early,), (late,) = lab.a.started, lab.b.started
    assert late.started_s == pytest.approx(early.started_s + 0.5 + 3.0, abs=0.31)


class TickingClock(WallClock):
    """The wall clock, with an hour in six minutes."""

    def now_s(self) -> float:
        return super().now_s() * 10

    def sleep(self, seconds: float) -> None:
        super().sleep(max(seconds, 1e-4) / 10)


class Wall(Lab):
    """The same lab in wall time."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = TickingClock()  # type: ignore[assignment]
        for host in self.hosts:
            host.clock = self.clock


def test_on_the_wall_clock_a_sample_that_is_under_way_delays_no_start_and_no_end() -> None:
    lab, at_start, at_end = Wall(), list[int](), list[bool]()
    started, ended = Event(), Event()

    def during(now_s: float) -> None:
        if not lab.b.started:  # this one is answered only after the late sender has started
            at_start.append(len(lab.b.started))
            assert started.wait(20)
        elif not ended.is_set() and now_s > lab.b.started[0].started_s + 4:
            at_end.append(ended.wait(20))  # and this one after both were ended

    def start(command: str, before: int) -> Script:
        started.set()
        return steady(4.36)(command, before)

    def interrupted(process: PaperProcess) -> None:
        ended.set()

    lab.b.plays, lab.b.on_signal = start, interrupted
    early, late = lab.run(during=during, sample_every_s=0.5)
    assert (early.status, late.status) == (FlowStatus.COMPLETE, FlowStatus.COMPLETE)
    assert at_start == [0]
    assert at_end == [True]
    assert lab.nothing_runs()


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, WorkloadError("no")])
def test_what_a_sample_raises_beside_ends_the_run(error: BaseException) -> None:
    lab = Wall()
    early, late = lab.streams()
    last = replace(late, starts_after_s=6.0)  # long behind it, on a busy machine, too

    def during(now_s: float) -> None:
        raise error

    with pytest.raises(error if isinstance(error, type) else type(error)):
        lab.run((early, last), during=during, sample_every_s=0.5)
    assert lab.b.started == []
    assert lab.nothing_runs()


def test_a_sender_killed_mid_run_is_recorded_and_the_others_go_on() -> None:
    killed = Script(prints=rows(*[9.26] * 30), ends=(3.0, 137))
    lab = Lab(clients=lambda command, before: killed)
    early, late = lab.run()
    assert early.status is FlowStatus.FAILED
    assert "137" in early.because
    assert "KILL" in early.because
    assert late.status is FlowStatus.COMPLETE
    assert lab.nothing_runs()


def test_a_sender_that_exits_0_after_its_peer_was_killed_has_failed() -> None:
    words = "ethernet_read_keys: Couldn't read remote address\n"
    gone = Script(prints=rows(9.26, 9.26), complains=((2.6, words),), ends=(2.6, 0))
    early, _ = Lab(clients=lambda command, before: gone).run()
    assert early.status is FlowStatus.FAILED
    assert "Couldn't read remote address" in early.because


def test_a_sender_whose_server_died_while_it_hung_has_failed() -> None:
    dying = Script(prints=((0.2, BANNER),), ends=(4.0, 137))
    lab = Lab(servers=lambda command, before: dying if "5000" in command else server())
    early, late = lab.run()
    assert early.status is FlowStatus.FAILED
    assert "its server on ServerC ended with status 137" in early.because
    assert late.status is FlowStatus.COMPLETE


@pytest.mark.parametrize(
    ("script", "because"),
    [
        (Script(prints=rows(*[0.0] * 30)), "0 iterations"),
        (Script(prints=rows(9.26, 9.26, *[0.0] * 30)), "stalled"),
        (Script(prints=rows(9.26, 9.26)), "before it was ended: it stalled"),
        (
            Script(
                prints=(*rows(9.26, 9.26), *((at_s + 6.0, row) for at_s, row in rows(9.26)[1:]))
            ),
            "no row for 4.9 s in the middle",
        ),
        (Script(prints=((0.5, HEADER),)), "before its first report row"),
        (Script(prints=rows(9.26, 9.26), ends=(2.7, 0)), "ended by itself"),
        (Script(prints=(*rows(9.26, 9.26), (3.0, " 65536   88"))), "is cut"),
        (
            Script(prints=((0.4, " Data ex. method : rdma_cm \tTOS    : 0\n"), *rows(*[9.0] * 30))),
            "TOS",
        ),
        (
            Script(prints=((0.4, "            RDMA_Write BW Test\n"), *rows(*[9.0] * 30))),
            "RDMA_Write",
        ),
        (
            Script(
                prints=rows(9.26, 9.26),
                complains=(
                    (2.6, " Completion with error at client\n Failed status 12: wr_id 0\n"),
                ),
                ends=(2.6, 1),
            ),
            "RETRY_EXC_ERR",
        ),
    ],
)
def test_figures_without_proof_are_no_traffic(script: Script, because: str) -> None:
    lab = Lab(clients=lambda command, before: script)
    early, _ = lab.run()
    assert early.status is FlowStatus.FAILED
    assert because in early.because
    assert lab.nothing_runs()


def test_a_sender_that_pauses_in_the_middle_is_complete_with_the_zeros_in_its_series() -> None:
    pausing = Script(prints=rows(9.26, 0.0, *[9.26] * 28))
    early, _ = Lab(clients=lambda command, before: pausing).run()
    assert early.status is FlowStatus.COMPLETE
    assert early.intervals[1].goodput_bits_per_s == 0


# -- before the first packet --------------------------------------------------------------------

RACE = Script(
    complains=((0.3, "RDMA CM event error:\nEvent: RDMA_CM_EVENT_REJECTED; error: 8.\n"),),
    ends=(0.3, 255),
)


def test_the_connection_race_is_tried_again_with_a_fresh_server_and_recorded() -> None:
    lab = Lab(clients=lambda command, before: RACE if before == 0 else steady(9.26)(command, 0))
    early, late = lab.run()
    assert early.status is FlowStatus.COMPLETE
    assert len(early.retries) == 1
    assert "RDMA_CM_EVENT_REJECTED" in early.retries[0]
    assert late.retries == ()
    assert sum("5000" in process.command for process in lab.c.started) == 2
    assert lab.nothing_runs()


def test_a_race_that_does_not_pass_is_infrastructure_and_no_verdict() -> None:
    lab = Lab(clients=lambda command, before: RACE)
    early, late = lab.run()
    assert (early.status, late.status) == (FlowStatus.INFRASTRUCTURE, FlowStatus.INFRASTRUCTURE)
    assert "no connection in 3 tries" in early.because
    assert len(early.retries) == 3
    assert "not run" in late.because
    assert lab.nothing_runs()


@pytest.mark.parametrize(
    ("errors", "status"),
    [
        ("IB device mlx5_7 not found\n Unable to find the Infiniband/RoCE device\n", 1),
        ("stdbuf: failed to run command 'ib_send_bw': No such file or directory\n", 127),
        ("Couldn't listen to port 5000\n", 1),
    ],
)
def test_a_server_that_cannot_start_is_infrastructure_in_its_own_words(
    errors: str, status: int
) -> None:
    broken = Script(complains=((0.1, errors),), ends=(0.1, status))
    lab = Lab(servers=lambda command, before: broken if "5000" in command else server())
    early, late = lab.run()
    assert early.status is FlowStatus.INFRASTRUCTURE
    assert errors.splitlines()[0] in early.because
    assert late.status is FlowStatus.INFRASTRUCTURE
    assert lab.a.started == []
    assert lab.nothing_runs()


def test_a_server_that_says_nothing_is_waited_for_only_so_long() -> None:
    lab = Lab(servers=lambda command, before: Script())
    early, _ = lab.run()
    assert early.status is FlowStatus.INFRASTRUCTURE
    assert "not ready in 20 s" in early.because


def test_a_server_is_also_ready_when_the_connection_manager_shows_its_listener() -> None:
    lab = Lab(servers=lambda command, before: Script())
    lab.c.listening = (
        '[{"ifindex":0,"ifname":"rxe0","cm-idn":1,"state":"LISTEN","src-addr":"0.0.0.0:5000"}\n'
        ',{"ifindex":0,"ifname":"rxe0","cm-idn":2,"state":"LISTEN","src-addr":"0.0.0.0:5001"}\n]\n'
    )
    early, late = lab.run()
    assert (early.status, late.status) == (FlowStatus.COMPLETE, FlowStatus.COMPLETE)


def test_a_client_that_never_connects_is_infrastructure() -> None:
    lab = Lab(clients=lambda command, before: Script())
    early, _ = lab.run()
    assert early.status is FlowStatus.INFRASTRUCTURE
    assert "did not start sending in 20 s" in early.because
    assert lab.nothing_runs()


# -- whatever happens ------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, ValueError])
def test_whatever_is_raised_while_it_runs_everything_is_ended(error: type[BaseException]) -> None:
    lab = Lab()

    def during(now_s: float) -> None:
        if now_s > lab.a.started[0].started_s + 4:
            raise error

    with pytest.raises(error):
        lab.run(during=during, sample_every_s=0.5)
    assert len(lab.b.started) == 1
    assert lab.nothing_runs()


def test_all_senders_are_asked_to_end_before_any_server_is() -> None:
    lab = Lab()
    lab.run()
    ends = {p.command: p.ended[0] for h in lab.hosts for p in h.started if p.ended is not None}
    clients = [at_s for command, at_s in ends.items() if command.endswith(CLIENT)]
    servers = [at_s for command, at_s in ends.items() if not command.endswith(CLIENT)]
    assert max(clients) - min(clients) < 0.01
    assert max(clients) <= min(servers)


def test_a_process_that_is_still_listed_afterwards_is_named_with_host_and_pid() -> None:
    lab = Lab()
    lab.c.zombies = (
        "31337 ib_send_bw -d mlx5_0 --report_gbits -F --run_infinitely -D 1 -R -T 96 -p 5000",
    )
    with pytest.raises(WorkloadError, match="ServerC: still running") as raised:
        lab.run()
    assert "kill -9 31337" in str(raised.value)


def test_processes_of_other_people_are_not_ours() -> None:
    lab = Lab()
    lab.c.zombies = ("77 ib_send_bw -d mlx5_0 -p 18515", "78 ib_send_bw -D 1 -R -T 96 -p 50001")
    assert all(flow.status is FlowStatus.COMPLETE for flow in lab.run())


def test_a_process_that_cannot_be_killed_is_an_error_and_hides_no_other() -> None:
    stubborn = Script(prints=rows(*[9.26] * 90), survives=frozenset({"INT", "TERM", "KILL"}))
    lab = Lab(clients=lambda command, before: stubborn)
    with pytest.raises(LabErrors) as raised:
        lab.run()
    kinds = {type(error) for error in raised.value.exceptions}
    assert kinds == {CommandTimeout, WorkloadError}
    assert all(process.closed for host in lab.hosts for process in host.started)


def test_a_leftover_does_not_replace_the_error_that_came_first() -> None:
    lab = Lab()
    lab.c.zombies = (
        "1 ib_send_bw -d mlx5_0 --report_gbits -F --run_infinitely -D 1 -R -T 96 -p 5000",
    )

    def during(now_s: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as raised:
        lab.run(during=during)
    assert any("still running" in note for note in raised.value.__notes__)


# -- mistakes of the caller -----------------------------------------------------------------------


def test_a_run_too_short_for_a_row_is_refused_before_it_starts() -> None:
    lab = Lab()
    streams = tuple(
        Stream(
            sender=s.sender,
            receiver=s.receiver,
            tool=Perftest(tos=96, port=s.tool.port),
            starts_after_s=s.starts_after_s * 2,
        )
        for s in lab.streams()
    )
    with pytest.raises(WorkloadError, match="first figures come 11 s"):
        lab.run(streams)
    assert not any(host.started for host in lab.hosts)


def test_two_streams_to_one_port_are_refused() -> None:
    early, _ = Lab().streams()
    with pytest.raises(WorkloadError, match="uses the same port"):
        Lab().run((early, early))


def test_a_tool_with_a_tos_or_port_out_of_range_is_refused() -> None:
    with pytest.raises(WorkloadError, match="out of range"):
        Perftest(tos=256, port=5000)
    with pytest.raises(WorkloadError, match="out of range"):
        Iperf3(protocol="udp", tos=0, port=0, offered_bits_per_s=None, duration_s=5)
