"""Every file that somebody may hand over, with anything in any place of it: it is read, or refused
with a sentence. LABTESTS_FUZZ=2000 tries more."""

import json
import os
from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_handed_files import journal_of, snapshot_of

import labtests.report as report
from labtests.core.errors import LabError
from labtests.inventory import load
from labtests.journal import read_changes
from labtests.journal.unfinished import state_folder, unfinished_runs
from labtests.lease.record import Garbage, as_line, holder_of, me
from labtests.linuxlab import plan
from labtests.linuxlab.ledger import Ledger, ledger_of
from labtests.network import cases
from labtests.profile import reader as profiles
from labtests.recovery.snapshot import read

ROOT = Path(__file__).parents[2]
EXAMPLES = int(os.environ.get("LABTESTS_FUZZ", "40"))
CASE = next(iter(sorted((ROOT / "tests" / "cases").rglob("*.yaml"))), None)

STRANGE: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    2**63,
    10**400,
    1.7e308,
    float("nan"),
    float("inf"),
    "",
    "\ud800",
    "\x1b[2J\x00",
    "\u202e",
    "../../etc/passwd",
    "$(touch owned)",
    "-oProxyCommand=touch owned",
    "x" * 5000,
    [],
    {},
    [[]],
    {"": None},
    {"record": "labtests.records:PfcSetting", "fields": {}},
    {"member": "labtests.records:FlowStatus", "name": "__class__"},
    {"map": [[{"list": []}, 1]]},
    {"set": [{"list": []}]},
)
RUN = {
    "format": "labtests-run/1",
    "testbed": "lab",
    "started": "2026-01-01T00:00:00+00:00",
    "backend": "hardware",
    "devices": [{"name": "h", "platform": "linux", "versions": {"kernel": "6"}}],
    "tests": [
        {
            "id": "a::b",
            "title": "t",
            "outcome": "pass",
            "verdicts": [{"role": "main", "outcome": "pass", "because": "b", "expected": "pass"}],
            "phases": [
                {
                    "name": "p",
                    "kind": "experiment",
                    "start_s": 0.0,
                    "end_s": 9.0,
                    "flows": [
                        {
                            "sender": "a",
                            "receiver": "b",
                            "tool": "iperf3",
                            "goodput_bits_per_s": 1e9,
                            "intervals": [{"start_s": 0, "end_s": 1, "goodput_bits_per_s": 1e9}],
                        }
                    ],
                    "samples": [
                        {
                            "device": "s",
                            "port": "e",
                            "scope": "queue",
                            "index": 3,
                            "counter": "queue_length_packets",
                            "unit": "packets",
                            "value": n,
                            "time_s": n,
                        }
                        for n in range(3)
                    ],
                    "counters": [
                        {"device": "s", "port": "e", "counter": "c", "increase": 1, "before": 1}
                    ],
                    "settings": [{"device": "s", "port": "e", "setting": "mtu", "value": 1500}],
                }
            ],
        }
    ],
}


def places(tree: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to everything in it."""
    inner = tree.items() if isinstance(tree, dict) else enumerate(tree)
    found = [here] if here else []
    if isinstance(tree, (dict, list)):
        for key, value in inner:
            found += (
                places(value, (*here, key)) if isinstance(value, (dict, list)) else [(*here, key)]
            )
    return found


@st.composite
def damaged(draw: st.DrawFn, tree: Any) -> Any:
    """A copy with one or two places that are gone, doubled, or something else."""
    damaged = deepcopy(tree)
    for _ in range(draw(st.integers(1, 2))):
        ways = places(damaged)
        if not ways:
            break
        *way, last = draw(st.sampled_from(ways))
        around = damaged
        for key in way:
            around = around[key]
        kind = draw(st.sampled_from(("other", "other", "other", "gone", "named")))
        if kind == "other":
            other = draw(st.sampled_from(STRANGE) | st.text(max_size=20) | st.floats())
            around[last] = deepcopy(other)  # what is put into it later stays out of the next draw
        elif kind == "gone" or not isinstance(around, dict):
            del around[last]
        else:
            around[draw(st.sampled_from(("", "\ud800", "x; touch owned", "__class__")))] = 1
    return damaged


def from_yaml(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def lines_of(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def document(path: Path, tree: Any) -> Path:
    path.write_text(json.dumps(tree))
    path.chmod(0o600)
    return path


def written_lines(path: Path, tree: Any) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in tree))
    path.chmod(0o600)
    return path


def of_lease(path: Path, tree: Any) -> None:
    with suppress(Garbage):
        str(holder_of(json.dumps(tree)))


def of_ledger(path: Path, tree: Any) -> None:
    folder = path.parent / "lab"
    folder.mkdir(exist_ok=True)
    document(folder / "ledger.json", tree)
    ledger_of("lab")


def of_run(path: Path, tree: Any) -> None:
    document(path.parent / "run.json", tree)
    report.page(report.read_run(path.parent)).encode()


def of_index(path: Path, tree: Any) -> None:
    folder = state_folder() / "unfinished"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    document(folder / "run-1.json", tree)
    for run in unfinished_runs():
        str(run.runner)


Reader = Callable[[Path, Any], object]
INDEX = {
    "run": "run-1",
    "testbed": "lab",
    "simulated": False,
    "dry_run": False,
    "journal": "/tmp/x",
    "addresses": ["h:22"],
    "runner": {
        "record": "labtests.journal.runner:Runner",
        "fields": {"pid": 1, "host": "h", "boot": "b", "pid_space": "p", "started_ticks": 1}
        | {"since": "s"},
    },
}
FORMATS: dict[str, tuple[Callable[[Path], Any], Reader]] = {
    "testbed": (
        lambda _: from_yaml(ROOT / "testbeds" / "h3c-s6550-cx4.yaml"),
        lambda path, tree: load(document(path, tree)),
    ),
    "linux lab": (
        lambda _: from_yaml(ROOT / "testbeds" / "linux-lab.yaml"),
        lambda path, tree: load(document(path, tree)),
    ),
    "profile": (
        lambda _: from_yaml(ROOT / "profiles" / "lossless-25g.yaml"),
        lambda path, tree: profiles.load(document(path, tree)),
    ),
    "snapshot": (
        lambda folder: json.loads(snapshot_of(folder, {"mtu": 1500}).read_text()),
        lambda path, tree: read(document(path, tree)),
    ),
    "change journal": (
        lambda folder: lines_of(journal_of(folder / "run", {}, {})),
        lambda path, tree: read_changes(written_lines(path, tree)),
    ),
    "run": (lambda _: RUN, of_run),
    "lease": (lambda _: json.loads(as_line(me("run", run="r", why="w"))), of_lease),
    "ledger": (
        lambda _: asdict(
            Ledger(name="lab", digest="d", runners={"a": (1, 2)}, namespaces=["labtests:lab"])
        ),
        of_ledger,
    ),
    "index of unfinished runs": (lambda _: INDEX, of_index),
}
if CASE is not None:
    FORMATS["case"] = (
        lambda _: from_yaml(CASE),
        lambda path, tree: cases.load(document(path, tree)),
    )


@pytest.mark.parametrize("name", FORMATS)
def test_anything_in_any_place_is_read_or_refused_with_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("LABTESTS_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setattr(plan, "LINUX_LAB_FOLDER", str(tmp_path))
    (tmp_path / "state").mkdir(mode=0o700)
    sound, reader = FORMATS[name]
    tree = sound(tmp_path)
    reader(tmp_path / "file", tree)  # as it is, it is read

    @settings(max_examples=EXAMPLES, database=None, suppress_health_check=list(HealthCheck))
    @given(damaged(tree))
    def fuzzed(tree: Any) -> None:
        with suppress(LabError):
            reader(tmp_path / "file", tree)

    fuzzed()


def test_every_format_is_fuzzed() -> None:
    assert len(FORMATS) == 10
