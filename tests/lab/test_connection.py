"""`lab.connection` on the emulated hosts of a simulated lab; and what docs/suites.md shows."""

import io
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from in_process import InProcessLab
from invoke.exceptions import CommandTimedOut, UnexpectedExit
from recorded import recorded_lab

from labtests.core.errors import CommandRejected, DeviceError
from labtests.inventory import load
from labtests.lab.changes import Planned
from labtests.lab.lab import Lab
from labtests.pytest_plugin import terminal
from labtests.transport.transcript import Transcript

ROOT = Path(__file__).parents[2]
TESTBED = load(ROOT / "testbeds" / "h3c-s6550-cx4.yaml")


@pytest.fixture(scope="module")
def simulated() -> Iterator[InProcessLab]:
    with InProcessLab(TESTBED, seed=1) as simulated:
        yield simulated


@pytest.fixture
def lab(simulated: InProcessLab, tmp_path: Path) -> Iterator[Lab]:
    with Transcript(tmp_path / "journal.jsonl") as transcript, opened(simulated, transcript) as lab:
        yield lab


def opened(simulated: InProcessLab, transcript: Transcript) -> Lab:
    testbed = simulated.reroute(TESTBED)
    return Lab.open(
        testbed, clock=simulated.clock, backend="simulated", transcript=transcript, run="r"
    )


def test_fabric_is_not_loaded_before_somebody_asks_for_a_connection() -> None:
    loaded = "import sys, labtests.__main__, labtests.lab.lab, labtests.transport.ssh.login; "
    words = [sys.executable, "-c", f"{loaded}print('fabric' in sys.modules)"]
    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout == "False\n"


def test_an_emulated_host_answers_as_any_other(lab: Lab) -> None:
    connection = lab.connection("ServerA")
    assert connection.run("hostname", hide=True).stdout == "ServerA\n"
    assert connection.sudo("id -u", hide=True).stdout == "0\n"
    assert connection.run("echo $LABTESTS_RUN", hide=True).stdout == "r\n"
    with pytest.raises(UnexpectedExit, match="mlnx_qoss: "):
        connection.run("mlnx_qoss", hide=True)
    assert lab.connection("ServerB").run("hostname", hide=True).stdout == "ServerB\n"


def test_time_limits_are_of_the_labs_time(lab: Lab) -> None:
    connection, begun_s = lab.connection("ServerA"), lab.clock.now_s()
    assert connection.run("sleep 30; echo rested", hide=True).stdout == "rested\n"
    assert 30 <= lab.clock.now_s() - begun_s < 32
    with pytest.raises(CommandTimedOut):
        connection.run("sleep 30", timeout=5)
    assert connection.run("pgrep sleep", warn=True, hide=True).stdout == ""


def test_files_go_both_ways_and_are_removed_at_the_end(
    simulated: InProcessLab, tmp_path: Path
) -> None:
    with Transcript(tmp_path / "journal.jsonl") as transcript:
        with opened(simulated, transcript) as lab:
            connection = lab.connection("ServerA")
            where = connection.put(io.StringIO("hostname >result\n"), "ask.sh").remote
            folder = str(Path(where).parent)
            connection.run(f"cd {folder} && sh ask.sh")
            taken = io.BytesIO()
            connection.get("result", taken)
            assert taken.getvalue() == b"ServerA\n"
        with opened(simulated, transcript) as lab:
            left = lab.connection("ServerA").run(f"ls {folder}", warn=True, hide=True)
    assert left.exited == 2
    assert "No such file" in left.stderr


def test_a_switch_with_a_cli_has_none_and_says_what_to_use(lab: Lab) -> None:
    with pytest.raises(DeviceError) as caught:
        lab.connection("S6550")
    assert str(caught.value).startswith("S6550: \"lab.connection('S6550')\": comware is a switch")
    assert "lab.change" in caught.value.remedy


def test_a_plan_sends_nothing_to_an_emulated_host(lab: Lab) -> None:
    lab.planned = Planned()
    sent = {name: transport.sent for name, transport in lab.transports.items()}  # type: ignore[attr-defined]
    connection = lab.connection("ServerA")
    assert connection.run("rm -rf /").ok
    connection.put(io.StringIO("x"), "x")
    assert {name: t.sent for name, t in lab.transports.items()} == sent  # type: ignore[attr-defined]
    lines: list[str] = []
    shown: Any = SimpleNamespace(section=lines.append, write_line=lines.append)
    run: Any = SimpleNamespace(lab=lab, testbed=lab.testbed, backend="simulated", clean=str)
    run.spans = {}
    terminal._print_plan(shown, run)
    own = [line for line in lines if "issued by the suite" in line]
    assert own == ["    issued by the suite: rm -rf /", "    issued by the suite: put x"]


def test_what_a_suite_has_run_can_be_replayed(
    lab: Lab, simulated: InProcessLab, tmp_path: Path
) -> None:
    said = lab.connection("ServerA").run("hostname; uname -s", hide=True).stdout
    replayed: dict[str, Any] = dict(recorded_lab(tmp_path / "journal.jsonl"))
    again = Lab(
        TESTBED,
        {device.name: replayed["ServerA"] for device in TESTBED.devices},
        clock=replayed["ServerA"].clock,
        backend="simulated",
    )
    connection = again.connection("ServerA")
    assert connection.run("hostname; uname -s", hide=True).stdout == said
    with pytest.raises(CommandRejected, match="a recording has no files"):
        connection.get("/etc/hostname")


def test_the_suite_of_the_docs_runs(lab: Lab, simulated: InProcessLab, tmp_path: Path) -> None:
    text = (ROOT / "docs" / "suites.md").read_text()
    names: dict[str, Any] = {}
    for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(compile(code, "docs/suites.md", "exec"), names)
    by_script = names["test_what_a_script_of_ours_sees"]
    by_setting = names["test_with_pauses_on_one_priority"]
    by_script(lab, tmp_path)
    assert (tmp_path / "counters.txt").read_text().count("rx_prio") == 8
    by_setting(lab)
    assert not lab.ahead.entries  # put back
