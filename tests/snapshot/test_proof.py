"""A run proves that it left the lab as it found it; what was changed behind its back is red."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from snapshot_lab import OUT, TESTBED_FILE

from labtests.report import page

ROOT = Path(__file__).parents[2]
LOOKS = "def test_looks(lab):\n    assert lab.testbed.devices\n"
MEDDLES = f"""from labtests.drivers.comware.session import line


def test_meddles(lab):
    change = (line("interface", "{OUT}"), line("qos", "trust", "dscp"), line("quit"))
    told = lab.transports["S6550"].configure(change)
    assert "%" not in told.text
"""


def run(folder, text, *options):
    (folder / "conftest.py").write_text((ROOT / "conftest.py").read_text())
    (folder / "test_suite.py").write_text(text)
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("LABTESTS_", "PYTEST_"))}
    command = [sys.executable, "-m", "pytest", "test_suite.py", "--testbed", str(TESTBED_FILE)]
    done = subprocess.run(
        [*command, "--dry-run", "--run-dir", "run", *options],
        cwd=folder,
        env=clean | {"PYTHONPATH": str(ROOT), "XDG_STATE_HOME": str(folder / "state")},
        capture_output=True,
        text=True,
        check=False,
    )
    return done, json.loads((folder / "run" / "run.json").read_text())


def test_a_run_that_leaves_the_lab_alone_says_so_last(tmp_path):
    done, found = run(tmp_path, LOOKS)
    assert done.returncode == 0, done.stdout
    assert found["state"]["differences"] == []
    assert "lab restored: " in done.stdout
    html = (tmp_path / "run" / "report.html").read_text()
    assert html.count('id="lt-state"') == 1
    assert html.index('id="lt-state"') > html.index("</table>")
    for name in ("before", "after"):
        assert (tmp_path / "run" / found["state"][name]).is_file()


def test_a_change_that_nobody_undid_makes_the_run_red_with_its_name(tmp_path):
    done, found = run(tmp_path, MEDDLES)
    assert (done.returncode, found["exit_code"]) == (10, 10), done.stdout
    assert [(d["device"], d["port"], d["setting"]) for d in found["state"]["differences"]] == [
        ("S6550", OUT, "trust")
    ]
    difference = found["state"]["differences"][0]
    assert ("none" in difference["before"], "dscp" in difference["after"]) == (True, True)
    assert f"S6550:{OUT} trust" in done.stdout
    assert "the lab is not as it was found" in found["problem"]
    assert "<td>trust</td>" in (tmp_path / "run" / "report.html").read_text()


def test_a_plan_is_no_proof(tmp_path):
    done, found = run(tmp_path, LOOKS, "--plan")
    assert (done.returncode, found["state"]["differences"]) == (0, None)


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (None, "did not compare"),
        ({"differences": None, "because": "<b>cut</b>"}, "&lt;b&gt;cut"),
        ({"differences": [{"device": "<i>", "setting": "pfc"}]}, "&lt;i&gt;"),
    ],
)
def test_a_section_without_a_proof_never_says_yes(state, said):
    run_json = {"lab": {"name": "x"}, "state": state} if state is not None else {"lab": {}}
    html = page(run_json)
    assert said in html
    assert "no difference" not in html
    assert "Yes: 0 settings differ" not in html
    assert html.count('id="lt-state"') == 1
