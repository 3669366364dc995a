"""`apply` asks first what would undo it, as the check before a run does, and changes nothing."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from labtests.__main__ import main

ROOT = Path(__file__).parents[2]
PROFILE = str(ROOT / "profiles" / "lossless-25g.yaml")
TESTBED = str(ROOT / "testbeds" / "h3c-s6550-cx4.yaml")
WILLING = {"kind": "willing-dcbx", "device": "ServerB", "port": "ens6f0np0"}
LLDPAD = {"kind": "lldpad", "device": "ServerB"}


def labtests(word, folder, fault, *more):
    words = (word, PROFILE, "--testbed", TESTBED, "--dry-run", "--run-dir", str(folder))
    return CliRunner().invoke(main, [*words, "--fault", json.dumps(fault), *more])


def changes(folder):
    lines = (folder / "changes.jsonl").read_text().splitlines()
    return [line for line in map(json.loads, lines) if line["kind"] == "change"]


@pytest.mark.parametrize(
    ("fault", "said", "remedy"),
    [(LLDPAD, "lldpad is running", "systemctl stop lldpad"),
     (WILLING, "DCBX of ens6f0np0 is in firmware", "mlnx_qos -i ens6f0np0 -d os")],
)  # fmt: skip
def test_apply_refuses_before_anything_is_changed(tmp_path, fault, said, remedy):
    done = labtests("apply", tmp_path, fault, "--limit", "ServerB,S6550")
    assert done.exit_code == 10, done.output
    assert "ServerB: obstacles: " + said in done.stderr
    assert remedy in done.stderr
    assert "nothing was changed; --tolerate obstacles goes on" in done.stdout
    assert changes(tmp_path) == []
    sent = map(json.loads, (tmp_path / "journal.jsonl").read_text().splitlines())
    assert not [line for line in sent if line["kind"] == "configure"]


def test_apply_goes_on_when_told_to_and_the_plan_shows_what_is_in_the_way(tmp_path):
    plan = labtests("plan", tmp_path / "plan", LLDPAD, "--limit", "ServerB", "--json")
    assert plan.exit_code == 0, plan.output
    (found,) = json.loads(plan.stdout)["devices"]["ServerB"]["obstacles"]
    assert (found["check"], found["level"]) == ("obstacles", "failure")
    assert "lldpad is running" in found["finding"]

    anyway = labtests(
        "apply", tmp_path / "anyway", LLDPAD, "--limit", "ServerB", "--tolerate", "obstacles"
    )
    assert anyway.exit_code == 0, anyway.output
    assert "settings changed and read back" in anyway.stdout
    assert "OBSTACLE (failure): lldpad is running" in anyway.stdout
