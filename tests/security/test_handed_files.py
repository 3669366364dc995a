"""Snapshots, change journals, recordings, runs and testbed files that somebody else has made."""

import json
import os
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from handed import (
    EVIL,
    Dialled,
    as_root,
    journal_of,
    known_under,
    managed,
    restore,
    snapshot_of,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from labtests.capabilities.records import PfcSetting
from labtests.capabilities.settings import SETTINGS
from labtests.capabilities.values import FORMS, NoSuchValue, expect_value
from labtests.core.errors import InventoryError, LabError
from labtests.core.private_files import NotPrivate, write_private
from labtests.inventory import load
from labtests.journal import read_changes
from labtests.linuxlab import plan
from labtests.linuxlab.ledger import Ledger, ledger_of
from labtests.recovery.snapshot import read
from labtests.report.runs import UnreadableRun, read_run

pytestmark = pytest.mark.usefixtures("own_state")

# -- values ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        {"earlier": EVIL},
        {"wanted": EVIL},
        {"earlier": 10**30},
        {"earlier": -1},
        {"earlier": True},
        {"earlier": 1500.5},
        {"setting": "pfc", "earlier": 1500, "wanted": 9000},
        {"setting": "x; touch owned", "earlier": 1, "wanted": 2},
        {"setting": "unheard_of", "earlier": "$(touch owned)", "wanted": 2},
        {"port": "eth0; touch owned"},
        {"device": "another"},
        {"number": "1"},
        {"undo": [["touch owned"]]},
    ],
)
def test_a_change_that_no_run_has_made_is_refused_before_anybody_is_dialled(
    tmp_path: Path, dialled: Dialled, change: dict[str, Any]
) -> None:
    journal_of(tmp_path / "run", change, {})
    done = restore("run", "--yes")
    assert (done.exit_code, dialled.hosts) == (2, []), done.output
    assert done.exception is None or isinstance(done.exception, SystemExit)


def test_a_change_that_a_run_has_made_is_put_back(tmp_path: Path, dialled: Dialled) -> None:
    """The control of the others."""
    journal_of(tmp_path / "run", {}, {})
    assert restore("run", "--yes").exit_code == 10  # nobody answers there
    assert dialled.hosts == ["192.0.2.7"]


PFC = {"record": "labtests.records:PfcSetting"}


@pytest.mark.parametrize(
    "settings_",
    [
        {"mtu": EVIL},
        {"mtu": 2**40},
        {"pfc": {**PFC, "fields": {"mode": "on; touch owned", "priorities": {"set": []}}}},
        {"pfc": {**PFC, "fields": {"mode": "on", "priorities": {"set": [EVIL]}}}},
        {"pfc": {**PFC, "fields": {"mode": "on", "priorities": {"tuple": [3]}}}},
        {"pfc": {"record": "labtests.simlab.control:LabProcess", "fields": {}}},
        {"dscp_map": {"tuple": [0] * 63 + [EVIL]}},
        {"dscp_map": {"tuple": [0] * 65}},
    ],
)
def test_a_value_that_no_snapshot_has_is_refused_before_anybody_is_dialled(
    tmp_path: Path, dialled: Dialled, settings_: dict[str, Any]
) -> None:
    path = snapshot_of(tmp_path, settings_)
    done = restore(str(path), "--testbed", str(tmp_path / "lab.yaml"))
    assert (done.exit_code, dialled.hosts) == (2, []), done.output


def test_every_setting_has_a_form() -> None:
    assert set(FORMS) == set(SETTINGS)


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4).map(tuple) | st.frozensets(st.integers(), max_size=9),
    max_leaves=12,
)


@given(st.sampled_from(SETTINGS), _json)
@settings(max_examples=300, deadline=None)
def test_a_value_that_passes_has_no_character_that_a_shell_reads(setting: str, value: Any) -> None:
    try:
        expect_value(setting, value)
    except NoSuchValue:
        return
    assert not set(repr(value)) & set('$`;&|<>\n\\"')


def test_a_value_of_a_device_is_looked_at_as_well() -> None:
    """A table's name, as a switch prints it, becomes a line that puts it back."""
    with pytest.raises(NoSuchValue):
        expect_value("pfc", PfcSetting(mode="on\nreboot", priorities=frozenset()))  # type: ignore


# -- where it leads --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "facts",
    [
        managed(password_env="lower case"),
        managed(host="-oProxyCommand=touch owned"),
        managed(jump="a b"),
        managed(port=70_000),
        managed(port="22"),
        managed(host_keys="whatever"),
        managed(become="yes"),
        managed(key_file="a\nb"),
        {"run": "../../x"},
        {"run": 7},
        {"testbed": "\x1b[2J"},
        {"dry_run": "no"},
        {"devices": [1]},
        {"devices": [{"record": "labtests.inventory.testbed:Link", "fields": {}}]},
        {"runner": {"tuple": []}},
    ],
)
def test_a_journal_whose_devices_no_testbed_file_could_have_is_refused(
    tmp_path: Path, dialled: Dialled, facts: dict[str, Any]
) -> None:
    journal_of(tmp_path / "run", {}, facts)
    done = restore("run", "--yes")
    assert (done.exit_code, dialled.hosts) == (2, []), done.output


def test_where_a_handed_over_journal_leads_is_said_with_its_secrets_names_and_asked(
    tmp_path: Path, dialled: Dialled, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "not-for-you")
    way = managed(host="evil.example", password_env="AWS_SECRET_ACCESS_KEY", host_keys="accept-new")
    journal_of(tmp_path / "run", {}, way)
    for answer in (None, "n\n", ""):
        done = restore("run", said=answer)
        assert (done.exit_code, dialled.hosts) == (2, [])
        for word in ("root@evil.example:22", "AWS_SECRET_ACCESS_KEY", "whatever its host key"):
            assert word in done.output
        assert "not-for-you" not in done.output
    restore("run", said="y\n")
    assert dialled.hosts == ["evil.example"]


def test_where_a_snapshot_leads_is_asked_unless_the_testbed_file_was_named(
    tmp_path: Path, dialled: Dialled
) -> None:
    path = snapshot_of(tmp_path, {"mtu": 1500})
    done = restore(str(path))
    assert (done.exit_code, dialled.hosts) == (2, [])
    assert "root@192.0.2.66:22" in done.output
    restore(str(path), "--testbed", str(tmp_path / "lab.yaml"))
    assert dialled.hosts == ["192.0.2.66"]
    assert restore(str(path)).exit_code == 2  # and now it is known: it is only that nobody answers
    assert dialled.hosts == ["192.0.2.66"] * 2


def test_what_is_known_is_a_way_and_not_a_name(tmp_path: Path, dialled: Dialled) -> None:
    known_under(None, tmp_path)
    journal_of(tmp_path / "run", {}, managed(password_env="OTHER"))
    assert (restore("run").exit_code, dialled.hosts) == (2, [])
    journal_of(tmp_path / "run", {}, {})
    assert (restore("run").exit_code, dialled.hosts) == (10, ["192.0.2.7"])


# -- whose it is -----------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [0o666, 0o620])
def test_what_others_can_write_is_not_done(tmp_path: Path, dialled: Dialled, mode: int) -> None:
    path = snapshot_of(tmp_path, {"mtu": 1500})
    path.chmod(mode)
    done = restore(str(path), "--yes")
    assert ("not believed" in done.output, dialled.hosts) == (True, []), done.output


@as_root
def test_what_somebody_else_has_made_is_not_done(tmp_path: Path, dialled: Dialled) -> None:
    path = snapshot_of(tmp_path, {"mtu": 1500})
    os.chown(path, 12345, 12345)
    done = restore(str(path), "--yes")
    assert ("not believed" in done.output, dialled.hosts) == (True, []), done.output


@as_root
def test_nor_is_ours_in_a_folder_of_somebody_else(tmp_path: Path, dialled: Dialled) -> None:
    """They could put another file of ours in its place, and what is done is written there."""
    journal_of(tmp_path / "run", {}, {})
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    snapshot = snapshot_of(tmp_path, {"mtu": 1500}).rename(theirs / "snapshot.json")
    for folder in (tmp_path / "run", theirs):
        os.chown(folder, 12345, 12345)
    before = sorted(tmp_path.rglob("*"))
    for place in ("run", str(snapshot)):
        done = restore(place, "--yes")
        assert ("another user" in done.output, dialled.hosts) == (True, []), done.output
    with pytest.raises(NotPrivate):
        write_private(theirs / "new.json", "{}")
    assert sorted(tmp_path.rglob("*")) == before


def test_a_link_to_one_is_not_followed(tmp_path: Path) -> None:
    real = journal_of(tmp_path / "run", {}, {})
    link = tmp_path / "changes.jsonl"
    link.symlink_to(real)
    with pytest.raises(LabError, match="symbolic link"):
        read_changes(link)


@as_root
def test_what_is_checked_is_what_is_read(tmp_path: Path) -> None:
    """Two files take turns at one path: ours, and one of somebody else."""
    ours = journal_of(tmp_path / "ours", {}, {})
    theirs = journal_of(tmp_path / "theirs", {}, {"run": "theirs"})
    os.chown(theirs, 12345, 12345)
    path = tmp_path / "changes.jsonl"
    path.write_bytes(ours.read_bytes())
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            for file in (theirs, ours):
                (tmp_path / "next").unlink(missing_ok=True)
                (tmp_path / "next").hardlink_to(file)
                (tmp_path / "next").replace(path)

    swapping = threading.Thread(target=swap)
    swapping.start()
    believed = set()
    try:
        for _ in range(400):
            try:
                believed.add(read_changes(path).begun.run)
            except LabError:
                continue
    finally:
        stop.set()
        swapping.join()
    assert believed <= {"run-1"}


# -- what exhausts ---------------------------------------------------------------------------------


@pytest.fixture(params=["pipe", "endless", "deep", "long number"])
def straining(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A file that would make a reader wait, grow or stop."""
    path = tmp_path / "straining"
    if request.param == "pipe":
        os.mkfifo(path)
    elif request.param == "endless":
        return Path("/dev/zero")
    else:
        path.write_text("[" * 100_000 if request.param == "deep" else "9" * 100_000)
    return path


def test_it_is_no_testbed_file(straining: Path) -> None:
    with pytest.raises(InventoryError):
        load(straining)


def test_it_is_no_snapshot(straining: Path) -> None:
    with pytest.raises(LabError):
        read(straining)


def test_it_is_no_change_journal(straining: Path) -> None:
    with pytest.raises(LabError):
        read_changes(straining)


def test_it_is_no_run(straining: Path, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "run.json").symlink_to(straining)
    with pytest.raises(UnreadableRun):
        read_run(folder)


@pytest.mark.parametrize("more_often", [0, 12])
def test_a_journal_is_told_by_no_number_that_is_there_twice(
    tmp_path: Path, more_often: int
) -> None:
    """Each such line would have doubled what the change before it remembers."""
    path = journal_of(tmp_path / "run", {}, {})
    first, change = path.read_text().splitlines()
    more = [change] * more_often
    fold = json.dumps({"kind": "folded", "number": 1, "into": 1})
    path.write_text("\n".join([first, change, *more, fold]) + "\n")
    with pytest.raises(LabError, match=r"twice|into itself"):
        read_changes(path)


_texts = st.text(max_size=200) | st.sampled_from(["{}", "[]", '{"format": "labtests-changes/1"}'])


@given(st.lists(_texts | _json.map(lambda value: json.dumps(value, default=list)), max_size=5))
@settings(max_examples=150, deadline=None)
def test_no_text_makes_a_traceback_of_a_reader(tmp_path_factory: Any, lines: list[str]) -> None:
    path = tmp_path_factory.mktemp("fuzz") / "file"
    path.write_text("\n".join(lines), encoding="utf-8", errors="surrogatepass")
    for reader in (read_changes, read, load):
        with suppress(LabError):
            assert reader(path) is not None  # type: ignore[operator]


@pytest.mark.parametrize(
    "facts",
    [
        {"name": "../../precious"},
        {"name": "another"},
        {"namespaces": ["-all"]},
        {"namespaces": ["a/../b"]},
        {"interface": "eth0"},
        {"runners": {"a": ["x", 1]}},
        {"queues": []},
    ],
)
def test_a_ledger_names_nothing_but_what_its_lab_has_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, facts: dict[str, Any]
) -> None:
    monkeypatch.setattr(plan, "LINUX_LAB_FOLDER", str(tmp_path))
    Ledger(name="lab", digest="d", namespaces=["labtests:lab", "labtests:lab:a"]).write()
    assert ledger_of("lab") is not None
    file = tmp_path / "lab" / "ledger.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | facts))
    with pytest.raises(LabError, match="cannot be read"):
        ledger_of("lab")
