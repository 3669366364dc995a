"""What a program has to be to make a flow: verbs of perftest, a tool without a server, one of a
suite's own."""

from dataclasses import dataclass, replace

import pytest
from stage import BANNER, HEADER, PaperClock, PaperHost, Script, rows

from labtests.capabilities.flows import FlowResult, FlowStatus, Interval
from labtests.core.errors import WorkloadError
from labtests.transport.commands import Shell, program
from labtests.workloads import Attempt, FlowTool, Iperf3, Party, Perftest, Stream, incast

READS = Perftest(tos=96, verb="read", report_every_s=1)


class Two:
    """`a` sends to `r`, by scripts; who starts what is remembered."""

    def __init__(self, on_a: Script, on_r: Script) -> None:
        self.clock = PaperClock()
        self.a = PaperHost("a", self.clock, lambda command, before: on_a)
        self.r = PaperHost("r", self.clock, lambda command, before: on_r)

    def run(self, tool: FlowTool) -> FlowResult:
        ends = [
            Party(name=host.device, transport=host, address=f"10.0.0.{n}", rdma="mlx5_0")
            for n, host in enumerate((self.a, self.r), start=1)
        ]
        stream = Stream(sender=ends[0], receiver=ends[1], tool=tool)
        (flow,) = incast((stream,), clock=self.clock, duration_s=3.2)
        return flow

    def started(self) -> dict[str, list[str]]:
        return {host.device: [p.command for p in host.started] for host in (self.a, self.r)}


def perftest_title(text: str) -> tuple[tuple[float, str], ...]:
    return ((0.4, f"                    {text} BW Test\n"), *rows(9.26, 9.26, 9.26))


SERVER = Script(prints=((0.2, BANNER),))


def test_the_client_of_a_read_runs_where_the_data_goes():
    two = Two(on_a=SERVER, on_r=Script(prints=perftest_title("RDMA_Read")))
    flow = two.run(READS)
    assert (flow.status, flow.because) == (FlowStatus.COMPLETE, "")
    assert (flow.sender, flow.receiver, flow.tool) == ("a", "r", "ib_read_bw")
    assert flow.is_read
    assert flow.is_rdma
    (served,), (asked,) = two.started().values()
    assert served.endswith("-R -T 96 -p 18515")
    assert asked == f"{served} 10.0.0.1"


def test_a_write_is_pushed_and_its_server_prints_nothing():
    two = Two(on_a=Script(prints=perftest_title("RDMA_Write")), on_r=SERVER)
    flow = two.run(replace(READS, verb="write", queue_pairs=4, message_bytes=65536))
    assert flow.status is FlowStatus.COMPLETE, flow.because
    assert not flow.is_read
    assert two.started()["a"][0].endswith("-T 96 -q 4 -p 18515 10.0.0.2")


NUMBERED = Perftest(tos=96, verb="write", queue_pairs=2, messages=1000)
ROW = " 65536      2000             0.00               4.00   \t\t   0.007629\n"


def transfer(*, row=ROW, ends=(0.7, 0)):
    head = " RDMA_Write BW Test\n" + HEADER
    prints = ((0.4, head), *([(0.65, row)] if row else []))
    return Two(on_a=Script(prints=prints, ends=ends), on_r=SERVER)


def test_a_number_of_messages_ends_by_itself_and_tells_how_long_it_took():
    two = transfer()
    flow = two.run(NUMBERED)
    assert (flow.status, flow.because) == (FlowStatus.COMPLETE, "")
    assert two.started()["a"][0].endswith("-F -n 1000 -R -T 96 -q 2 -p 18515 10.0.0.2")
    assert (flow.iterations, flow.goodput_bits_per_s) == (2000, 4e9)
    assert flow.ran_s == pytest.approx(2000 * 65536 * 8 / 4e9)
    (row,) = flow.intervals
    assert row.end_s - row.start_s == pytest.approx(flow.ran_s)


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"row": "", "ends": None}, "its 2000 messages were not all sent when time was over"),
        ({"row": ROW.replace("2000 ", "1999 ")}, "it tells of 1999 messages, not of 2000"),
        ({"row": ""}, "it ended before its first report row"),
    ],
    ids=["too late", "fewer", "no row"],
)
def test_a_number_of_messages_that_were_not_all_sent_is_no_transfer(how, says):
    flow = transfer(**how).run(NUMBERED)
    assert flow.status is FlowStatus.FAILED
    assert says in flow.because


@pytest.mark.parametrize(
    ("tool", "says"),
    [
        (replace(READS, verb="write"), "it ran a 'RDMA_Read' test, not 'RDMA_Write'"),
        (replace(READS, verb="send"), "it ran a 'RDMA_Read' test, not 'Send'"),
        (replace(READS, message_bytes=4096), "it sent messages of 65536 bytes, not 4096"),
    ],
)
def test_a_report_of_another_verb_or_size_is_no_proof(tool, says):
    client = Script(prints=perftest_title("RDMA_Read"))
    here, there = (SERVER, client) if tool.pulls else (client, SERVER)
    flow = Two(on_a=here, on_r=there).run(tool)
    assert (flow.status, flow.because) == (FlowStatus.FAILED, says)


@pytest.mark.parametrize(
    "wrong", [{"message_bytes": 0}, {"queue_pairs": 0}, {"queue_pairs": 10**6}]
)
def test_sizes_and_numbers_that_perftest_refuses_are_refused_before(wrong):
    with pytest.raises(WorkloadError, match="ib_write_bw"):
        Perftest(tos=96, verb="write", **wrong)


def test_tools_of_several_flows_have_ports_of_their_own():
    for tool in (READS, Iperf3(protocol="udp", tos=0, offered_bits_per_s=1e9)):
        ports = [tool.of_flow(n, seconds=2.0, row_every_s=1).port for n in range(5)]
        assert len(set(ports)) == 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Blast:
    """A tool that needs no server, as a suite may have one."""

    tos: int = 0
    port: int = 9
    name: str = "blast"
    of_rdma: bool = False
    pulls: bool = False
    probes: bool = False
    offered_bits_per_s: float | None = None
    first_report_s: float = 1.0
    ends_after_s: float | None = 2.0

    def of_flow(self, number: int, *, seconds: float, row_every_s: int) -> "Blast":
        return self

    def shares(self) -> tuple["Blast", ...]:
        return (self,)

    def server_command(self, server: Party, *, rdma: str | None) -> Shell | None:
        return None

    def client_command(self, server: Party, *, rdma: str | None) -> Shell:
        return program("blast", server.address)

    def is_ready(self, server_output: str) -> bool:
        return True

    def is_running(self, client_output: str, server_output: str) -> bool:
        return "go" in client_output

    def may_retry(self, attempt: Attempt) -> bool:
        return False

    def judge(self, blank: FlowResult, attempt: Attempt) -> FlowResult:
        gbit = float(attempt.client.text.split()[-1])
        start_s = attempt.running_s or 0.0
        row = Interval(start_s=start_s, end_s=start_s + 2, goodput_bits_per_s=gbit * 1e9)
        return replace(
            blank, status=FlowStatus.COMPLETE, goodput_bits_per_s=gbit * 1e9, intervals=(row,)
        )


def test_a_tool_without_a_server_is_one_module():
    two = Two(on_a=Script(prints=((0.3, "go\n"), (2.2, "4.5\n")), ends=(2.3, 0)), on_r=SERVER)
    flow = two.run(Blast())
    assert (flow.status, flow.goodput_bits_per_s) == (FlowStatus.COMPLETE, 4.5e9)
    assert two.started() == {"a": ["blast 10.0.0.2"], "r": []}
