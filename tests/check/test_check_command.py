"""`labtests check` and the check before a run: exit codes, JSON, and that nothing was changed."""

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from labtests.__main__ import main
from labtests.check import CheckFinding, judged
from labtests.check.command import code_of, shortened, unfinished, without
from labtests.inventory import load
from labtests.journal import Begun, register, this_runner

ROOT = Path(__file__).parents[2]
TESTBED = str(ROOT / "testbeds" / "h3c-s6550-cx4.yaml")
WRONG = '{"kind": "rdma-down", "device": "ServerA", "port": "enp3s0f0np0"}'


def finding(level="failure", check="mtu", device="a"):
    return CheckFinding(check=check, level=level, device=device, finding="x")


def test_the_exit_code_is_that_of_the_worst_line():
    assert code_of([finding("ok"), finding("warning"), finding("not known")]) == 0
    assert code_of([finding("ok"), finding("failure")]) == 10
    assert code_of([finding("failure"), finding("failure", "reachable")]) == 15


def test_worst_first_tolerated_and_strict():
    found = [finding("ok"), finding("not known"), finding("warning"), finding("failure")]
    assert [f.level for f in judged(found)] == ["failure", "warning", "not known", "ok"]
    assert judged(found, tolerated=frozenset({"mtu"}))[0].level == "warning"
    assert [f.level for f in judged(found, strict=True)].count("failure") == 3


def test_the_table_has_every_bad_line_and_one_for_the_good_of_a_check():
    found = [finding("warning"), finding("ok"), finding("ok", device="b"), finding("ok", "pfc")]
    assert [(f.level, f.device) for f in shortened(found)] == [
        ("warning", "a"),
        ("ok", "a, b"),
        ("ok", "a"),
    ]


def test_the_journal_of_a_run_that_died_is_a_failure_until_it_is_gone(tmp_path, monkeypatch):
    monkeypatch.setenv("LABTESTS_STATE_DIR", str(tmp_path / "state"))
    testbed = load(Path(TESTBED))
    assert list(unfinished(testbed)) == []
    died = Begun(
        run="20260101-120000-abcdef",
        runner=replace(this_runner(), started_ticks=1),  # its number is another process's by now
        testbed=testbed.name,
        file=TESTBED,
        backend="hardware",
        dry_run=False,
        devices=testbed.devices,
    )
    registered = register(tmp_path / "changes.jsonl", died)
    (found,) = unfinished(testbed)
    assert (found.check, found.level, found.device) == ("leftovers", "failure", testbed.name)
    assert "20260101-120000-abcdef" in found.finding
    assert "crashed" in found.finding
    assert found.remedy == "labtests restore 20260101-120000-abcdef"
    registered.remove()
    assert list(unfinished(testbed)) == []


def test_a_device_that_is_gone_takes_its_cables_along():
    rest = without(load(Path(TESTBED)), {"ServerA"})
    assert [device.name for device in rest.devices] == ["ServerB", "ServerC", "S6550"]
    assert len(rest.links) == 2


@pytest.mark.parametrize(("options", "code"), [((), 0), (("--fault", WRONG), 10)])
def test_a_dry_run_end_to_end(options, code):
    run = CliRunner().invoke(
        main, ["check", "--testbed", TESTBED, "--dry-run", "--json", "--idle-s", "0", *options]
    )
    assert run.stdout, run.output
    found = json.loads(run.stdout)
    assert run.exit_code == code
    failures = [f for f in found if f["level"] == "failure"]
    assert [(f["check"], f["device"]) for f in failures] == [("rdma", "ServerA")] * bool(options)
    assert "check: asking 4 devices" in run.stderr
    assert set(found[0]) == {"check", "level", "device", "port", "finding", "remedy"}


def test_boxes_that_do_not_answer_are_failures_with_exit_code_15(tmp_path, monkeypatch):
    monkeypatch.setenv("LABTESTS_STATE_DIR", str(tmp_path / "state"))
    number = iter(range(1, 9))  # ports on which nothing listens, a different one each
    dead = re.sub(
        r"host: [\w.-]+",
        lambda _: f"host: 127.0.0.1, port: {next(number)}",
        Path(TESTBED).read_text(),
    )
    (tmp_path / "lab.yaml").write_text(dead)
    done = CliRunner().invoke(main, ["check", "--testbed", str(tmp_path / "lab.yaml"), "--json"])
    assert done.exit_code == 15, done.output
    found = json.loads(done.stdout)
    assert {(f["check"], f["level"]) for f in found} == {("reachable", "failure")}
    assert {f["device"] for f in found} == {"ServerA", "ServerB", "ServerC", "S6550"}
    assert all(f["remedy"] for f in found)


@pytest.mark.parametrize(
    "wrong", [("--fault", WRONG), ("--dry-run", "--fault", "{"), ("--dry-run", "--tolerate", "x")]
)
def test_a_wrong_option_is_refused(wrong):
    run = CliRunner().invoke(main, ["check", "--testbed", TESTBED, *wrong])
    assert run.exit_code == 2
    assert "Traceback" not in run.output


@pytest.mark.parametrize(("options", "code"), [((), 10), (("--tolerate", "rdma"), 0)])
def test_a_failure_stops_a_run_before_anything_is_changed(tmp_path, options, code):
    (tmp_path / "conftest.py").write_text((ROOT / "conftest.py").read_text())
    (tmp_path / "test_suite.py").write_text("def test_looks(lab):\n    assert lab.testbed\n")
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("LABTESTS_", "PYTEST_"))}
    command = [sys.executable, "-m", "pytest", "test_suite.py", "--testbed", TESTBED]
    done = subprocess.run(
        [*command, "--dry-run", "--run-dir", "run", "--fault", WRONG, *options],
        cwd=tmp_path,
        env=clean | {"PYTHONPATH": str(ROOT), "XDG_STATE_HOME": str(tmp_path / "state")},
        capture_output=True,
        text=True,
        check=False,
    )
    run = json.loads((tmp_path / "run" / "run.json").read_text())
    assert (done.returncode, run["exit_code"]) == (code, code), done.stdout
    assert [f["device"] for f in run["check"] if f["check"] == "rdma"] == ["ServerA"]
    changes = (tmp_path / "run" / "changes.jsonl").read_text()
    assert '"kind": "change"' not in changes
    assert ("the RDMA link mlx5_0 is not active" in run["problem"]) == (code == 10)
    assert "ServerA:enp3s0f0np0: rdma" in done.stdout or code == 0
