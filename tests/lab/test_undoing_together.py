"""What was made together goes back together: in few exchanges, whatever happens in the middle."""

import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from in_process import InProcessLab, begun_of
from typed import typed

from labtests.capabilities.settings import kind_of
from labtests.core.errors import LeaseLost
from labtests.core.redaction import Redaction
from labtests.inventory import Endpoint, Testbed, load
from labtests.journal import ChangeJournal, Intent, read_changes
from labtests.lab import sending
from labtests.lab.changes import PutBack
from labtests.lab.lab import Lab
from labtests.profile.planning import made, planned
from labtests.profile.reader import load as load_profile
from labtests.recovery.snapshot import Snapshot, compare, take
from labtests.recovery.snapshot.session import limited
from labtests.transport.ssh.shell import ShellTransport
from labtests.transport.transcript import Transcript

HOSTS = ("h1", "h2")
PROFILE = load_profile(Path(__file__).parents[2] / "profiles" / "lossless-25g.yaml").form
UNDOING = 2
"""Read; put back and read back."""
RP_FILES = "/ecn/roce_rp/enable/"


def written() -> str:
    lines = ["name: pair", "lease: ~", "devices:", "  sw:", "    platform: comware"]
    lines += ["    management: {host: 10.9.1.1}", "    ports:"]
    lines += [f"      Twenty-FiveGigE1/0/{n}: {{}}" for n in (1, 2)]
    for n, name in enumerate(HOSTS, 1):
        lines += [f"  {name}:", "    platform: connectx", f"    management: {{host: 10.9.0.{n}}}"]
        lines += [f"    ports: {{ens1: {{rdma: mlx5_0, address: 172.16.0.{n}/24}}}}"]
    lines += ["links:"]
    for n, name in enumerate(HOSTS, 1):
        ends = f'"{name}:ens1", "sw:Twenty-FiveGigE1/0/{n}"'
        lines += [f"  - {{between: [{ends}], speed_gbit_per_s: 25, length_m: 3}}"]
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessLab]:
    file = tmp_path_factory.mktemp("pair") / "pair.yaml"
    file.write_text(written())
    with InProcessLab(load(file), seed=1) as lab:
        lab.described = load(file)  # type: ignore[attr-defined]
        yield lab


@dataclass
class Applied:
    """A lab in which the profile was applied to both hosts, and how it was before."""

    simulated: InProcessLab
    testbed: Testbed
    folder: Path
    lab: Lab
    before: Snapshot
    commands: dict[str, list[str]]

    @property
    def path(self) -> Path:
        return self.folder / "changes.jsonl"

    def differences(self, lab: Lab | None = None) -> set[tuple[str, str]]:
        """Device and setting."""
        found = take(lab or self.lab)
        return {(each.device, each.setting) for each in compare(self.before, found)}

    def fault(self, **facts: object) -> None:
        self.simulated.fault(device="h1", **facts)

    def undone_of(self, device: str) -> list[str]:
        """Settings that the journal calls undone."""
        lines = [json.loads(line) for line in self.path.read_text().splitlines()]
        of = {line["number"]: line for line in lines if line["kind"] == "change"}
        undone = [of[line["number"]] for line in lines if line["kind"] == "undone"]
        return [line["setting"] for line in undone if line["device"] == device]

    def recovered(self, path: Path) -> list[PutBack]:
        """Another process takes over the journal as it is there, and puts everything back."""
        with opened(self.simulated, self.testbed, self.folder / "second") as other:
            other.ahead = ChangeJournal.resume(path, read_changes(path), Redaction())
            done = list(other.put_back())
            assert all(each.error is None for each in done), done
            assert self.differences(other) == set()
            other.ahead.end()
            assert read_changes(path).ended
        return done


@contextmanager
def opened(simulated: InProcessLab, testbed: Testbed, folder: Path) -> Iterator[Lab]:
    folder.mkdir(exist_ok=True)
    with (
        Transcript(folder / "journal.jsonl") as transcript,
        Lab.open(testbed, clock=simulated.clock, backend="simulated", transcript=transcript) as lab,
    ):
        yield lab


@pytest.fixture
def applied(simulated: InProcessLab, tmp_path: Path) -> Iterator[Applied]:
    testbed = limited(simulated.reroute(simulated.described), HOSTS)  # type: ignore[attr-defined]
    try:
        with opened(simulated, testbed, tmp_path) as lab:
            lab.ahead = ChangeJournal.begin(tmp_path / "changes.jsonl", begun_of(lab), Redaction())
            before = take(lab)
            made(PROFILE, lab, planned(PROFILE, lab))
            commands = {
                host: [
                    command
                    for entry in reversed(lab.ahead.entries)
                    if entry.intent.at.device == host
                    for command in entry.intent.undo
                ]
                for host in HOSTS
            }
            yield Applied(simulated, testbed, tmp_path, lab, before, commands)
            lab.ahead.entries.clear()
    finally:
        simulated.fault(kind="heal", device="h1")


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Exchanges, by device."""
    count: Counter[str] = Counter()
    execute = ShellTransport.execute

    def executing(transport: ShellTransport, *words: Any, **more: Any) -> Any:
        count[transport.device] += 1
        return execute(transport, *words, **more)

    monkeypatch.setattr(ShellTransport, "execute", executing)
    return count


def on_configure(
    monkeypatch: pytest.MonkeyPatch, act: Callable[[Callable[..., Any], tuple[str, ...]], Any]
) -> list[tuple[str, ...]]:
    """What h1 is sent, and `act` in its place."""
    configure, seen = ShellTransport.configure, []

    def configuring(transport: ShellTransport, commands: tuple[str, ...]) -> Any:
        if transport.device != "h1":
            return configure(transport, commands)
        seen.append(commands)
        return act(partial(configure, transport), commands)

    monkeypatch.setattr(ShellTransport, "configure", configuring)
    return seen


def is_h1(intent: Intent) -> bool:
    return intent.at.device == "h1"


def test_the_changes_of_a_host_go_back_in_two_exchanges_in_reverse_order(
    applied: Applied, sent: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks = on_configure(monkeypatch, lambda configure, commands: configure(commands))
    entries = list(applied.lab.ahead.entries)
    assert Counter(e.intent.at.device for e in entries) == dict.fromkeys(HOSTS, 7)
    done = applied.lab.put_back()
    assert sent == dict.fromkeys(HOSTS, UNDOING)
    assert blocks == [(*applied.commands["h1"], blocks[0][-1])]
    assert [each.entry for each in done] == entries[::-1]
    assert not any(each.error or each.found_so for each in done)
    assert applied.differences() == set()
    assert read_changes(applied.path).entries == []


def test_undoing_twice_sends_nothing_the_second_time(
    applied: Applied, sent: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = applied.folder / "copy.jsonl"
    shutil.copy(applied.path, copy)
    copy.chmod(0o600)
    applied.lab.put_back()
    blocks = on_configure(monkeypatch, lambda configure, commands: configure(commands))
    done = applied.recovered(copy)  # every change of it is `made`, and back already
    assert all(each.found_so for each in done)
    assert blocks == []


def test_a_refusal_in_the_middle_is_named_and_everything_else_goes_back(
    applied: Applied, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = next(c for c in applied.commands["h1"] if RP_FILES in c)
    wrong = typed("echo 9 > /sys/class/net/nothing")

    def refusing(configure: Callable[..., Any], commands: tuple[str, ...]) -> Any:
        return configure(tuple(wrong if c == refused else c for c in commands))

    blocks = on_configure(monkeypatch, refusing)
    done = applied.lab.put_back()
    (left,) = [each for each in done if each.error is not None]
    assert left.entry.intent.setting == "reaction_point"
    assert refused in left.entry.intent.undo
    assert applied.differences() == {("h1", "reaction_point")}
    assert [e.intent.setting for e in read_changes(applied.path).entries] == ["reaction_point"]
    others = [e.entry.intent for e in done if e is not left]
    assert sorted(applied.undone_of("h1")) == sorted(i.setting for i in others if is_h1(i))
    assert len(blocks[0]) == len(applied.commands["h1"]) + 1  # the block; then one by one
    monkeypatch.undo()
    applied.lab.ahead.pages.close()  # type: ignore[union-attr]
    assert len(applied.recovered(applied.path)) == 1


@pytest.mark.parametrize("after", [False, True])
def test_a_connection_that_is_cut_in_the_block_leaves_a_journal_that_puts_all_back(
    applied: Applied, after: bool
) -> None:
    applied.fault(kind="cut", command=applied.commands["h1"][0], after=after)
    done = applied.lab.put_back()
    assert {e.entry.intent.at.device for e in done if e.error is not None} == {"h1"}
    left = read_changes(applied.path).entries
    assert {(e.intent.at.device, e.whole) for e in left} == {("h1", False)}
    applied.lab.ahead.pages.close()  # type: ignore[union-attr]
    assert len(applied.recovered(applied.path)) == len(left) == 7


def test_a_host_that_says_yes_and_does_nothing_is_not_believed(applied: Applied) -> None:
    applied.fault(kind="lie")
    done = applied.lab.put_back()
    left = [each for each in done if each.error is not None]
    assert {each.entry.intent.at.device for each in left} == {"h1"}
    different = applied.differences()
    assert {("h1", e.entry.intent.setting) for e in left} <= different
    assert {device for device, _ in different} == {"h1"}
    assert len(left) == 7
    assert applied.undone_of("h1") == []
    assert len(applied.undone_of("h2")) == 7
    assert len(read_changes(applied.path).entries) == 7
    applied.fault(kind="heal")
    applied.lab.ahead.pages.close()  # type: ignore[union-attr]
    applied.recovered(applied.path)


def test_who_dies_between_the_commands_and_what_was_read_back_can_be_recovered(
    applied: Applied, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is what `kill -9` would leave at that moment: commands obeyed, nothing proved."""
    at_undo = applied.folder / "at-undo.jsonl"

    def dying(configure: Callable[..., Any], commands: tuple[str, ...]) -> Any:
        reply = configure(commands)
        shutil.copy(applied.path, at_undo)
        at_undo.chmod(0o600)
        return reply

    on_configure(monkeypatch, dying)
    assert all(each.error is None for each in applied.lab.put_back())
    story = read_changes(at_undo)
    assert [e.whole for e in story.entries if e.intent.at.device == "h1"] == [False] * 7
    monkeypatch.undo()
    done = applied.recovered(at_undo)
    assert [e.entry.intent.at.device for e in done if e.found_so].count("h1") == 7


def test_who_dies_before_its_changes_were_read_back_can_be_recovered(
    applied: Applied, monkeypatch: pytest.MonkeyPatch
) -> None:
    applied.lab.put_back()
    at_change = applied.folder / "at-change.jsonl"

    def dying(configure: Callable[..., Any], commands: tuple[str, ...]) -> Any:
        reply = configure(commands)
        shutil.copy(applied.path, at_change)
        at_change.chmod(0o600)
        return reply

    on_configure(monkeypatch, dying)
    made(PROFILE, applied.lab, planned(PROFILE, applied.lab))
    monkeypatch.undo()
    mine = [e for e in read_changes(at_change).entries if e.intent.at.device == "h1"]
    assert [(e.whole, e.together) for e in mine] == [(False, mine[0].number)] * 7
    only = limited(applied.testbed, HOSTS[:1])
    with opened(applied.simulated, only, applied.folder / "second") as other:
        story = read_changes(at_change)
        story.entries = mine
        other.ahead = ChangeJournal.resume(at_change, story, Redaction())
        assert not any(each.error or each.found_so for each in other.put_back())
    assert {device for device, _ in applied.differences()} == {"h2"}
    applied.lab.put_back()
    assert applied.differences() == set()


def test_a_lease_that_is_lost_keeps_the_block_from_being_sent(
    applied: Applied, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Lost:
        def expect_held(self, *, undoing: bool = False) -> None:
            raise LeaseLost("somebody else has it")

        def expect_fresh(self) -> None:
            """It was so a moment ago."""

        def give_back(self, *, left: int = 0) -> None:
            """Nothing to give."""

    blocks = on_configure(monkeypatch, lambda configure, commands: configure(commands))
    applied.lab.lease = Lost()
    done = applied.lab.put_back()
    assert [str(each.error) for each in done] == ["somebody else has it"] * 14
    assert blocks == []
    assert all(e.whole for e in read_changes(applied.path).entries)
    applied.lab.lease = None
    applied.lab.ahead.pages.close()  # type: ignore[union-attr]
    applied.recovered(applied.path)


def test_who_is_interrupted_in_the_block_goes_on_where_it_was(
    applied: Applied, monkeypatch: pytest.MonkeyPatch
) -> None:
    difference, count = sending._difference, Counter[str]()

    def interrupted(step: Any, seen: Any) -> Any:
        count["made"] += 1
        if count["made"] == 4:
            raise KeyboardInterrupt
        return difference(step, seen)

    monkeypatch.setattr(sending, "_difference", interrupted)
    with pytest.raises(KeyboardInterrupt):
        applied.lab.put_back()
    assert len(read_changes(applied.path).entries) == 14 - 3  # three were proved, and it is said so
    done = applied.lab.put_back()
    assert all(each.error is None for each in done)
    assert applied.differences() == set()


def test_a_setting_that_was_changed_before_comes_back_to_what_it_was_first(
    applied: Applied,
) -> None:
    lab, at = applied.lab, Endpoint(device="h1", interface="ens1")
    lab.put_back()
    lab.change(at, kind_of("cable_length"), 40)
    made(PROFILE, lab, planned(PROFILE, lab))
    assert all(each.error is None for each in lab.put_back())
    assert applied.differences() == set()
    kinds = [json.loads(line)["kind"] for line in applied.path.read_text().splitlines()]
    assert kinds.count("folded") == 1
