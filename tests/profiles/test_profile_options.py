"""What `plan` and `apply` refuse before a lab is looked at: exit code 2, and no run folder."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from labtests.__main__ import main

ROOT = Path(__file__).parents[2]
LAB = ("--testbed", str(ROOT / "testbeds" / "h3c-s6550-cx4.yaml"))
PROFILE = str(ROOT / "profiles" / "lossless-25g.yaml")


@pytest.mark.parametrize("word", ["plan", "apply"])
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--dry-run", "--limit", ""), "'' has an empty name; leave it out for all devices"),
        (("--dry-run", "--limit", ","), "',' has an empty name"),
        (("--dry-run", "--limit", " "), "' ' has an empty name"),
        (("--dry-run", "--limit", "ServerA,"), "'ServerA,' has an empty name"),
        (("--dry-run", "--limit", "ServerQ"), "no device 'ServerQ'; there are ServerA"),
        (("--dry-run", "--seed", "-1"), "-1 is not in the range 0<=x<="),
        (("--seed", "3"), "--seed is for a simulated lab: give --dry-run too"),
        (("--fault", '{"kind": "lldpad", "device": "ServerA"}'), "--fault is for a simulated lab"),
        (("--dry-run", "--fault", '{"kind": "lldpad"}'), '--fault: "device" is missing (one of'),
        (("--dry-run", "--fault", "{"), "--fault {: give a JSON object (Expecting property name"),
        (("--dry-run", "--fault", ""), "--fault : give a JSON object (Expecting value"),
    ],
)
def test_a_wrong_option_is_refused_and_leaves_nothing(word, options, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = CliRunner().invoke(main, [word, PROFILE, *LAB, *options], prog_name="labtests")
    assert words in found.output
    assert found.exit_code == 2
    assert list(tmp_path.iterdir()) == []


def test_a_fault_that_only_the_lab_can_judge_is_a_wrong_option_too(tmp_path):
    fault = '{"kind": "cpu-limit", "device": "ServerA", "share": 7}'
    words = ["plan", PROFILE, *LAB, "--dry-run", "--fault", fault]
    found = CliRunner().invoke(main, [*words, "--run-dir", str(tmp_path / "run")])
    assert "a share is between 0 and 1, not 7" in found.output
    assert found.exit_code == 2
