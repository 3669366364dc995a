"""The recorded report of ib_send_lat, and what is no proof of a latency."""

from dataclasses import replace
from pathlib import Path

import pytest

from labtests.capabilities.flows import FlowResult, FlowStatus
from labtests.core.errors import WorkloadError
from labtests.transport.protocol import Reply
from labtests.workloads import Attempt, LatencyProbe

RECORDED = Path(__file__).parents[1] / "transcripts" / "linux-face" / "send-lat-client.txt"
TEXT = RECORDED.read_text("utf-8").split("\n", 2)[2]
PROBE = LatencyProbe(tos=0, messages=200)
BLANK = FlowResult(
    sender="a", receiver="b", tool="ib_send_lat", tos=0, status=FlowStatus.INFRASTRUCTURE,
    because="", command="ib_send_lat",
)  # fmt: skip


def judged(text: str = TEXT, probe: LatencyProbe = PROBE, **attempt: object) -> FlowResult:
    errors, status = str(attempt.pop("errors", "")), attempt.pop("status", 0)
    client = Reply(device="a", command="ib_send_lat", text=text, errors=errors, status=status)  # type: ignore[arg-type]
    seen = {"running_s": 1.0, "ended_s": 2.0, "ended_by_us": False} | attempt
    return probe.judge(BLANK, Attempt(client=client, server=client, **seen))  # type: ignore[arg-type]


def test_the_recorded_report_is_read() -> None:
    flow = judged()
    assert (flow.status, flow.because) == (FlowStatus.COMPLETE, "")
    assert flow.latency is not None
    assert (flow.latency.message_bytes, flow.latency.messages) == (2, 200)
    assert (flow.latency.least_us, flow.latency.most_us) == (319.03, 5422.36)
    assert (flow.latency.typical_us, flow.latency.mean_us) == (1139.93, 1426.88)
    assert (flow.latency.p99_us, flow.latency.p999_us) == (5049.95, 5422.36)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (TEXT.replace("5049.95", "6049.95"), "its times contradict each other"),
        (TEXT.replace("1426.88", "100.88"), "its times contradict each other"),
        (TEXT.replace(" 200 ", " 199 "), "it sent 199 messages of 2 bytes"),
        (TEXT.replace("Send Latency", "RDMA_Write Latency"), "it ran a 'RDMA_Write' test"),
        (TEXT.replace("99.9% percentile", "99.99% percentile"), "0 rows of a latency table"),
        (TEXT.replace("887.22 \t\t5049.95", "887.22"), "0 rows of a latency table"),
        (TEXT.replace("5422.36\n-", "5422.3\n-"), "0 rows of a latency table"),
        (TEXT.rpartition(" 2 ")[0], "0 rows of a latency table"),
        (TEXT.replace("method : rdma_cm", "method : rdma_cm \tTOS    : 96"), "it used TOS 96"),
    ],
)
def test_a_report_that_cannot_be_or_is_of_another_test_is_no_figure(text: str, says: str) -> None:
    assert text != TEXT
    flow = judged(text)
    assert flow.status is FlowStatus.FAILED
    assert flow.latency is None
    assert says in flow.because


def test_a_probe_that_did_not_end_by_itself_or_complained_has_no_figure() -> None:
    assert "had not done 200 messages" in judged(ended_by_us=True, status=None).because
    assert "exit status 1" in judged(status=1).because
    assert "Failed status 12" in judged(errors=" Failed status 12: wr_id 0\n").because
    assert judged(running_s=None).status is FlowStatus.INFRASTRUCTURE


def test_what_is_asked_is_in_the_command() -> None:
    with pytest.raises(WorkloadError, match="ib_write_lat"):
        LatencyProbe(tos=0, verb="write", messages=1)
    probe = replace(PROBE, verb="write").of_flow(3, seconds=2.0, row_every_s=1)
    assert (probe.name, probe.port, probe.probes, probe.pulls) == (
        "ib_write_lat",
        19518,
        True,
        False,
    )
