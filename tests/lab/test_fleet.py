"""Many hosts: all are contacted at once, by one session each, in few exchanges."""

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from in_process import InProcessLab, begun_of
from typed import typed

from labtests.capabilities.settings import kind_of
from labtests.core.errors import DeviceError
from labtests.core.redaction import Redaction
from labtests.inventory import Endpoint, Testbed, load
from labtests.journal import ChangeJournal, read_changes
from labtests.lab.lab import Lab
from labtests.profile.planning import FRESH_S, made, planned
from labtests.profile.reader import load as load_profile
from labtests.recovery.snapshot import compare, take
from labtests.recovery.snapshot.session import limited
from labtests.simlab.server import Connection
from labtests.transport.exchanges import Exchanges
from labtests.transport.ssh import login
from labtests.transport.ssh.shell import ShellTransport
from labtests.transport.transcript import Transcript

HOSTS = 40  # more than the usual defaults of pools
CHANGED = ("h01", "h02")
TOGETHER_S = 60.0
PROFILE = load_profile(Path(__file__).parents[2] / "profiles" / "lossless-25g.yaml").form
APPLYING = 1
"""Change and read back; what the plan has read a moment ago is not read again."""
UNDOING = 2
"""Read; put back and read back."""


class Watch:
    """What went to each host, and a gate that opens only when every host stands before it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.sent: Counter[str] = Counter()
        self.sessions: Counter[str] = Counter()
        self._gate: Barrier | None = None
        self._waited: set[str] = set()
        self._watch_commands(monkeypatch)
        open_line, connected = login.open_line, Connection.connection_made

        def opening(device: Any, *words: Any) -> Any:
            self._wait(device.name)
            return open_line(device, *words)

        def connection_made(connection: Connection, conn: Any) -> None:
            self.sessions[connection._gate.face.name] += 1  # type: ignore[attr-defined]
            connected(connection, conn)

        monkeypatch.setattr(login, "open_line", opening)
        monkeypatch.setattr(Connection, "connection_made", connection_made)

    def _watch_commands(self, monkeypatch: pytest.MonkeyPatch) -> None:
        execute = ShellTransport.execute

        def executing(transport: ShellTransport, *words: Any, **more: Any) -> Any:
            self.sent[transport.device] += 1
            self._wait(transport.device)
            return execute(transport, *words, **more)

        monkeypatch.setattr(ShellTransport, "execute", executing)

    def _wait(self, device: str) -> None:
        if self._gate is not None and device not in self._waited:
            self._waited.add(device)
            self._gate.wait(TOGETHER_S)  # BrokenBarrierError: some host was not contacted meanwhile

    @contextmanager
    def all_at_once(self, hosts: int) -> Iterator[Counter[str]]:
        """Inside, the first contact with each host waits for that with all others. What was sent
        inside, by host."""
        self._gate, before = Barrier(hosts), Counter(self.sent)
        self._waited.clear()
        sent: Counter[str] = Counter()
        yield sent
        sent.update(self.sent - before)
        assert len(self._waited) == hosts
        self._gate = None


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[InProcessLab, Testbed]]:
    file = tmp_path_factory.mktemp("fleet") / "fleet.yaml"
    file.write_text(written())
    described = load(file)
    with InProcessLab(described, seed=1) as simulated:
        hosts = tuple(f"h{number:02}" for number in range(1, HOSTS + 1))
        yield simulated, limited(simulated.reroute(described), hosts)


def written() -> str:
    numbers = range(1, HOSTS + 1)
    lines = ["name: fleet", "devices:", "  sw:", "    platform: comware"]
    lines += ["    management: {host: 10.9.1.1}", "    ports:"]
    lines += [f"      Twenty-FiveGigE1/0/{n}: {{}}" for n in numbers]
    for n in numbers:
        lines += [f"  h{n:02}:", "    platform: connectx", f"    management: {{host: 10.9.0.{n}}}"]
        lines += [f"    ports: {{ens1: {{rdma: mlx5_0, address: 172.16.0.{n}/24}}}}"]
    link = '  - {{between: ["h{0:02}:ens1", "sw:Twenty-FiveGigE1/0/{0}"], {1}}}'
    lines += ["links:", *(link.format(n, "speed_gbit_per_s: 25, length_m: 3") for n in numbers)]
    return "\n".join(lines) + "\n"


@contextmanager
def opened(simulated: InProcessLab, testbed: Testbed, folder: Path) -> Iterator[Lab]:
    with (
        Transcript(folder / f"journal-{len(testbed.devices)}.jsonl") as transcript,
        Lab.open(testbed, clock=simulated.clock, backend="simulated", transcript=transcript) as lab,
    ):
        yield lab


def test_all_hosts_at_once_by_one_session_each_in_few_exchanges(fleet, tmp_path, monkeypatch):
    simulated, testbed = fleet
    watch = Watch(monkeypatch)
    once = dict.fromkeys((device.name for device in testbed.devices), 1)
    with ExitStack() as stack:
        with watch.all_at_once(HOSTS) as sent:
            lab = stack.enter_context(opened(simulated, testbed, tmp_path))
        assert not sent  # the question about the login goes with the first command
        with watch.all_at_once(HOSTS) as sent:
            found = take(lab)
        assert sent == once
        assert not [p for d in found.devices.values() for p in d["ports"].values() if not p]
        with watch.all_at_once(HOSTS) as sent:
            plans = planned(PROFILE, lab)
        assert sent == once
        assert all(plan.steps and not plan.impossible for plan in plans)
    assert watch.sessions == once


def test_all_changes_of_a_host_go_in_a_few_exchanges(fleet, tmp_path, monkeypatch):
    simulated, testbed = fleet
    some = limited(testbed, CHANGED)
    watch = Watch(monkeypatch)
    with opened(simulated, some, tmp_path) as lab:
        before = take(lab)
        plans = planned(PROFILE, lab)
        with watch.all_at_once(len(CHANGED)) as sent:
            done = made(PROFILE, lab, plans)
        changes = Counter(step.at.device for step in done)
        assert set(changes) == set(CHANGED)
        for host in CHANGED:
            assert sent[host] == APPLYING < changes[host]
        with watch.all_at_once(len(CHANGED)) as sent:
            again = planned(PROFILE, lab)
        assert made(PROFILE, lab, again) == []
        assert sent == dict.fromkeys(CHANGED, 1)
        before_undo = Counter(watch.sent)
        lab.put_back()
        for host in CHANGED:
            assert watch.sent[host] - before_undo[host] == UNDOING
        assert not compare(before, take(lab))
    assert watch.sessions == dict.fromkeys(CHANGED, 1)


def test_all_changes_of_a_host_are_on_the_disk_before_one_is_sent(fleet, tmp_path, monkeypatch):
    simulated, testbed = fleet
    some = limited(testbed, CHANGED[:1])
    path = tmp_path / "changes.jsonl"
    known: list[set[str]] = []
    with opened(simulated, some, tmp_path) as lab:
        lab.ahead = ChangeJournal.begin(path, begun_of(lab), Redaction())
        plans = planned(PROFILE, lab)
        configure = ShellTransport.configure

        def configuring(transport: ShellTransport, commands: tuple[str, ...]) -> Any:
            story = read_changes(path)
            announced = {c for entry in story.entries for c in entry.intent.commands}
            *changing, reading_back = commands
            assert set(changing) <= announced
            assert not announced & {reading_back}
            assert not any(e.whole for e in story.entries if set(e.intent.commands) & set(changing))
            known.append(set(changing))
            return configure(transport, commands)

        monkeypatch.setattr(ShellTransport, "configure", configuring)
        done = made(PROFILE, lab, plans)
        story = read_changes(path)
        assert all(entry.whole for entry in story.entries)
        assert [e.intent.setting for e in story.entries] == [step.intent.setting for step in done]
        planned_commands = {c for plan in plans for step in plan.steps for c in step.commands}
        assert planned_commands <= set.union(*known)
        assert len(known) == 1
        monkeypatch.undo()
        lab.put_back()


def test_a_refusal_among_many_names_its_command_and_nothing_behind_it_is_sent(
    fleet, tmp_path, monkeypatch
):
    simulated, testbed = fleet
    some = limited(testbed, CHANGED[:1])
    with opened(simulated, some, tmp_path) as lab:
        before = take(lab)
        plans = planned(PROFILE, lab)
        commands = [c for step in plans[0].steps for c in step.commands]
        refused = next(c for c in commands if "roce_rp/enable/5" in c)
        configure = ShellTransport.configure

        def refusing(transport: ShellTransport, lines: tuple[str, ...]) -> Any:
            wrong = typed("echo 9 > /sys/class/net/nothing")
            reply = configure(transport, tuple(wrong if x == refused else x for x in lines))
            parts = tuple(
                replace(p, command=refused) if p.command == wrong else p for p in reply.parts
            )
            return replace(reply, parts=parts)

        monkeypatch.setattr(ShellTransport, "configure", refusing)
        with pytest.raises(DeviceError) as caught:
            made(PROFILE, lab, plans)
        assert caught.value.command == refused
        monkeypatch.undo()
        now = planned(PROFILE, lab)[0]
        behind = commands[commands.index(refused) :]
        assert set(behind) <= {c for step in now.steps for c in step.commands}
        assert len(now.steps) < len(plans[0].steps)
        assert all(put_back.error is None for put_back in lab.put_back())
        assert not compare(before, take(lab))


def test_what_the_plan_has_read_is_read_again_once_it_is_old_or_we_have_changed_the_host(
    fleet, tmp_path, monkeypatch
):
    simulated, testbed = fleet
    some = limited(testbed, CHANGED)
    watch = Watch(monkeypatch)
    old, changed = CHANGED
    with opened(simulated, some, tmp_path) as lab:
        before = take(lab)
        plans = {plan.device: plan for plan in planned(PROFILE, lab)}
        plans[old].read = replace(plans[old].read, boot_s=plans[old].read.boot_s - FRESH_S)
        lab.change(Endpoint(device=changed, interface="ens1"), kind_of("cable_length"), 40)
        sent = Counter(watch.sent)
        done = made(PROFILE, lab, list(plans.values()))
        assert watch.sent - sent == {old: APPLYING + 1, changed: APPLYING + 1}
        lengths_m = {
            s.at.device: s.intent.earlier for s in done if s.intent.setting == "cable_length"
        }
        assert lengths_m[changed] == 40 != lengths_m[old]  # what it is, not what the plan has seen
        lab.put_back()
        assert not compare(before, take(lab))


def test_a_setting_that_a_later_one_of_the_host_undid_is_found_by_its_last_answer(
    fleet, tmp_path, monkeypatch
):
    simulated, testbed = fleet
    some = limited(testbed, CHANGED[:1])
    watch = Watch(monkeypatch)
    with opened(simulated, some, tmp_path) as lab:
        plans = planned(PROFILE, lab)
        (plan,) = plans
        ets = next(step for step in plan.steps if step.intent.setting == "ets")
        change = Exchanges.change

        def overwritten(asked: Exchanges, changes: Any, then: Any) -> Any:
            return change(asked, [*changes, ets.intent.undo], then)[:-1]

        monkeypatch.setattr(Exchanges, "change", overwritten)
        with pytest.raises(DeviceError, match="accepted, but ets of ens1 reads back") as caught:
            made(PROFILE, lab, plans)
        assert caught.value.command == ets.commands[-1]
        assert plan.steps[-1] is not ets
        assert watch.sent[plan.device] <= 1 + 1 + APPLYING
        monkeypatch.undo()
        lab.put_back()
