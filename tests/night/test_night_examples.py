"""The examples of docs/night: read by what reads them where it is there, and their command runs."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner
from night_labs import ROOT
from prometheus_client.parser import text_string_to_metric_families

from labtests.__main__ import main
from labtests.history.records import KeptFact, KeptRun, KeptTest, KeptVerdict
from labtests.history.store import History

EXAMPLES = ROOT / "docs" / "night"
COMMAND = ".venv/bin/labtests night docs/night/night.yaml"


def commands() -> dict[str, list[str]]:
    """What each example runs."""
    github = yaml.safe_load((EXAMPLES / "github.yaml").read_text())
    gitlab = yaml.safe_load((EXAMPLES / "gitlab-ci.yaml").read_text())
    service = (EXAMPLES / "labtests-night.service").read_text()
    return {
        "github": [step["run"] for step in github["jobs"]["night"]["steps"] if "run" in step],
        "gitlab": gitlab["night"]["script"],
        "jenkins": re.findall(r"sh '([^']+)'", (EXAMPLES / "Jenkinsfile").read_text()),
        "cron": [(EXAMPLES / "crontab").read_text().splitlines()[-1].split(maxsplit=5)[5]],
        "systemd": [found[1] for found in re.finditer(r"ExecStart=/srv/labtests/(.*)", service)],
    }


def test_all_of_them_run_the_night():
    found = commands()
    found["cron"] = [found["cron"][0].removeprefix("cd /srv/labtests && ")]
    assert {name: lines[-1] for name, lines in found.items()} == dict.fromkeys(found, COMMAND)
    assert all(line in (COMMAND, "make setup") for lines in found.values() for line in lines)


@pytest.fixture
def clone(tmp_path):
    """A folder like a clone that is set up, whose `labtests night` only plans: no lab is there, and
    `test_two_real_dry_runs` runs a night."""
    for name in ("docs", "suites", "testbeds", "Makefile", "pyproject.toml"):
        (tmp_path / name).symlink_to(ROOT / name)
    programs = tmp_path / ".venv" / "bin"
    programs.mkdir(parents=True)
    (programs / "python").touch()
    (programs / "labtests").write_text(
        f'#!/bin/sh\nexec {sys.executable} -m labtests "$@" --plan\n'
    )
    (programs / "labtests").chmod(0o755)
    for name in ("requirements.txt", "requirements-dev.txt", ".venv/.installed",
                 ".venv/.tools-ready", ".venv/.run-ready", ".venv/.dev-ready"):  # fmt: skip
        (tmp_path / name).touch()
    return tmp_path


@pytest.mark.parametrize("name", ["github", "gitlab", "jenkins", "cron", "systemd"])
def test_what_they_run_runs_from_end_to_end(clone, name):
    """As they give it to a shell, in a folder that is set up."""
    done = subprocess.run(
        ["/bin/sh", "-ec", "\n".join(commands()[name]).replace("/srv/labtests", str(clone))],
        cwd="/" if name == "cron" else clone, capture_output=True, text=True, timeout=60,
        check=False, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "h3c-s6550-cx4 (simulated): how long is not known" in done.stdout
    assert "--testbed testbeds/nexus-cx5.yaml" in done.stdout


def test_cron_has_five_fields_and_a_command():
    (line,) = [x for x in (EXAMPLES / "crontab").read_text().splitlines() if x[0] != "#"]
    *when, command = line.split(maxsplit=5)
    assert all(re.fullmatch(r"\*|\d{1,2}", field) for field in when)
    assert command == commands()["cron"][0]


def test_their_keys_are_those_of_github_gitlab_and_systemd():
    """A misspelt key is silently without effect there."""
    github = yaml.safe_load((EXAMPLES / "github.yaml").read_text())
    assert set(github) == {"name", True, "jobs"}  # YAML's `on`
    assert set(github["jobs"]["night"]) == {"runs-on", "timeout-minutes", "steps"}
    gitlab = yaml.safe_load((EXAMPLES / "gitlab-ci.yaml").read_text())["night"]
    assert set(gitlab) == {"tags", "rules", "script", "timeout", "artifacts"}
    assert set(gitlab["artifacts"]) == {"when", "paths", "reports"}


def test_what_they_collect_is_what_a_run_leaves():
    """reports/<testbed>/<run>/junit.xml and report.html."""
    for name in ("gitlab-ci.yaml", "Jenkinsfile", "github.yaml"):
        assert "reports/*/*/junit.xml" in (EXAMPLES / name).read_text()
    for name in ("gitlab-ci.yaml", "Jenkinsfile", "github.yaml"):
        assert "reports/*/*/report.html" in (EXAMPLES / name).read_text()


def test_systemd_reads_its_units(tmp_path):
    verify = shutil.which("systemd-analyze")
    if verify is None:
        pytest.skip("systemd-analyze is not installed")
    for unit in ("labtests-night.service", "labtests-night.timer"):
        text = (
            (EXAMPLES / unit).read_text().replace("/srv/labtests/.venv/bin/labtests", "/bin/true")
        )
        (tmp_path / unit).write_text(text.replace("/srv/labtests", str(tmp_path)))
    done = subprocess.run(
        [verify, "verify", *map(str, sorted(tmp_path.glob("labtests-*")))],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def written_metrics(tmp_path_factory):
    """Names of metrics and of their labels, of what `labtests metrics write` has written."""
    folder = tmp_path_factory.mktemp("metrics")
    fact = KeptFact(name="use", measured=0.95, bound=">= 0.75", margin=0.2, unit="", note="")
    verdict = KeptVerdict(question="Was it full?", phase="on", role="main", outcome="pass",
                          as_expected=True, because="", facts=(fact,))  # fmt: skip
    test = KeptTest(name="t", title="", outcome="pass", duration_s=1, error="", verdicts=(verdict,))
    run = KeptRun(
        identity="1", testbed="lab", backend="hardware", exit_code=0, problem="", seed=None,
        started="2026-11-01T02:00:00+00:00", ended="", faults="[]", whole=True, folder="/r",
        commit_of_suites="", labtests_version="", command_line="", state={}, tests=(test,),
    )  # fmt: skip
    where, file = str(folder / "history.sqlite"), folder / "labtests.prom"
    with History.open(where) as history:
        history.enter(run)
    ended = CliRunner().invoke(main, ["metrics", "write", "--history", where, str(file)])
    assert ended.exit_code == 0, ended.output
    families = text_string_to_metric_families(file.read_text())
    return {each.name: set(each.samples[0].labels) for each in families}


def expressions() -> list[str]:
    rules = yaml.safe_load((EXAMPLES / "alerts.yaml").read_text())["groups"][0]["rules"]
    panels = json.loads((EXAMPLES / "grafana.json").read_text())["panels"]
    asked = [target["expr"] for panel in panels for target in panel["targets"]]
    return [rule["expr"] for rule in rules] + asked


@pytest.mark.parametrize("asked", expressions(), ids=range(len(expressions())))
def test_rules_and_panels_ask_for_metrics_and_labels_that_are_written(written_metrics, asked):
    names = re.findall(r"labtests_\w+", asked)
    assert set(names) <= set(written_metrics)
    labels = set.union(*(written_metrics[name] for name in names))
    for group in re.findall(r"(?:\{|by \(|on \()([^})]*)", asked):
        assert {part.partition("=")[0].strip(" ~") for part in group.split(",")} <= labels


def test_every_metric_is_in_the_dashboard_and_what_people_read_has_its_labels(written_metrics):
    dashboard = json.loads((EXAMPLES / "grafana.json").read_text())
    text = json.dumps(dashboard) + (EXAMPLES / "alerts.yaml").read_text()
    assert set(re.findall(r"labtests_\w+", text)) == set(written_metrics)
    known = set.union(*written_metrics.values()) | {"instance"}
    assert set(re.findall(r"\{\{ ?(?:\$labels\.)?(\w+) ?\}\}", text)) <= known
    places = [panel["gridPos"] for panel in dashboard["panels"]]
    cells = [(x, y) for p in places for x in range(p["x"], p["x"] + p["w"])
             for y in range(p["y"], p["y"] + p["h"])]  # fmt: skip
    assert len(cells) == len(set(cells))
    assert all(x < 24 for x, _ in cells)


def test_prometheus_reads_the_rules():
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool is not installed: names and labels were checked, not the expressions")
    rules = [promtool, "check", "rules", str(EXAMPLES / "alerts.yaml")]
    checked = subprocess.run(rules, capture_output=True, text=True, check=False, timeout=60)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_no_example_is_left_out():
    told = (ROOT / "docs" / "night.md").read_text()
    for file in EXAMPLES.iterdir():
        assert f"(night/{Path(file).name})" in told
