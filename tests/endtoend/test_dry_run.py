"""The suites as a user starts them when something is asked for or missing (story/: a good run)."""

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from recorded import lines_of

from labtests.report import read_run

ROOT = Path(__file__).parents[2]
TESTBED = "testbeds/h3c-s6550-cx4.yaml"


@dataclass(frozen=True)
class Done:
    """A finished run of pytest."""

    code: int
    text: str
    folder: Path

    @property
    def run(self):
        return read_run(self.folder)

    @property
    def junit(self):
        return ElementTree.parse(self.folder / "junit.xml").getroot()

    @property
    def html(self):
        return (self.folder / "report.html").read_text()


def suites(folder, *options):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("LABTESTS")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "suites", "-p", "no:cacheprovider",
         "--run-dir", str(folder), *options],
        cwd=ROOT, env=environment, capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    return Done(done.returncode, done.stdout + done.stderr, folder)


def test_without_controls_no_counter_is_proven_alive(tmp_path):
    done = suites(tmp_path, "--testbed", TESTBED, "--dry-run", "--no-controls", "-k", "s1_pfc")
    assert done.code == 1
    assert "1 inconclusive" in done.text
    assert done.run["tests"][0]["outcome"] == "inconclusive"
    assert "drop counter is unproven" in done.run["tests"][0]["verdicts"][1]["because"]
    assert done.junit.find(".//failure").get("type") == "inconclusive"
    assert "INCONCLUSIVE" in done.html


def test_a_plan_changes_nothing_and_proves_nothing(tmp_path):
    done = suites(tmp_path, "--testbed", TESTBED, "--dry-run", "--plan", "-k", "s1_pfc")
    assert done.code == 0, done.text
    assert "passed" not in done.text.splitlines()[-1]
    assert "mlnx_qos -i enp3s0f0np0 -f 0,0,0,1,0,0,0,0" in done.text
    lines = lines_of(done.folder / "journal.jsonl.gz")
    sent = [json.loads(line) for line in lines]
    assert not [entry for entry in sent if entry["kind"] in ("configure", "start")]
    assert done.run["tests"][0]["outcome"] == "skipped"


def test_boxes_that_do_not_answer_are_exit_code_15_without_traceback(tmp_path):
    text = (ROOT / TESTBED).read_text()
    (tmp_path / "lab.yaml").write_text(
        re.sub(r"host: [\w.-]+", "host: 127.0.0.1, port: 1", text, count=0)
    )
    lab = tmp_path / "lab.yaml"
    number = iter(range(1, 9))  # ports on which nothing listens, a different one each
    lab.write_text(re.sub(r"port: 1\b", lambda _: f"port: {next(number)}", lab.read_text()))
    done = suites(tmp_path / "run", "--testbed", str(lab))
    assert done.code == 15, done.text
    assert "lab unreachable" in done.text
    assert "Traceback" not in done.text
    assert "127.0.0.1:1" in done.run["problem"]


def test_a_run_needs_a_testbed_and_a_right_one(tmp_path):
    assert suites(tmp_path / "a").code == 4
    bad = tmp_path / "bad.yaml"
    bad.write_text((ROOT / TESTBED).read_text().replace("links:", "lnks:"))
    done = suites(tmp_path / "b", "--testbed", str(bad), "--dry-run")
    assert done.code == 4
    assert f"{bad}:" in done.text
    assert 'unknown key "lnks"' in done.text
