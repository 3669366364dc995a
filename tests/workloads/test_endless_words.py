"""What a tool printed is repeated in an error, but not without end, and no secret of it."""

import json

import pytest

from labtests.core import output
from labtests.core.errors import UnreadableOutput
from labtests.transport.protocol import Reply
from labtests.workloads import iperf3_json, perftest_report

LONG = 2**18
SECRET = "geheim-geheim-geheim"
PARSERS = {"iperf3": iperf3_json.parse_json, "perftest": perftest_report.parse_report}
WORDS = {
    "a list": ("iperf3", "[{filler}]\n".replace("{filler}", "1," * LONG + "1")),
    "a text": ("iperf3", json.dumps("x" * LONG) + "\n"),
    "a header": ("perftest", "#bytes " + "x" * LONG + "\n"),
    "figures": ("perftest", "65536 1000 1.00 1.00 0.100000 " + "x" * LONG + "\n"),
}


@pytest.mark.parametrize("words", WORDS)
def test_an_error_is_not_as_long_as_what_was_printed(words: str) -> None:
    assert len(_error(*WORDS[words])) < 1000


@pytest.mark.parametrize("at", range(150, 220, 7))
def test_a_secret_that_is_cut_is_hidden_whole(monkeypatch: pytest.MonkeyPatch, at: int) -> None:
    monkeypatch.setattr(output, "_used", {SECRET})
    for tool, text in (
        ("iperf3", json.dumps("x" * at + SECRET + "x" * LONG)),
        ("iperf3", json.dumps(["x" * at + SECRET, "x" * LONG])),
        ("perftest", "#bytes " + "x" * at + SECRET + "x" * LONG),
    ):
        said = _error(tool, f"{text}\n")
        assert SECRET[:5] not in said


def _error(tool: str, text: str) -> str:
    reply = Reply(device="node1", command=tool, text=text, errors="", status=0)
    with pytest.raises(UnreadableOutput) as raised:
        PARSERS[tool](reply)
    return str(raised.value)
