"""The clients of fleet.py, each run as a process of its own:

    python benchmarks/fleet_clients.py KIND FLEET.json

KIND: asyncssh, fabric, labtests (six reads of every host), change (labtests: snapshot, plan, apply
and verify of a profile), change-floor, change-fabric (bare asyncssh, Fabric: the same reads and the
same commands, which `change` has left in sent.json) or change-undo (puts hosts back). Prints one
line of JSON: phases in seconds, CPU, memory, exchanges.
"""

import json
import resource
import sys
import time

BEGIN = time.perf_counter()

from collections.abc import Callable, Iterator  # noqa: E402  (imports are measured, too)
from contextlib import contextmanager  # noqa: E402
from dataclasses import replace  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

READS = (
    "hostname",
    "uname -r",
    "cat /proc/uptime",
    "cat /proc/net/snmp",
    "cat /proc/sys/net/ipv4/tcp_ecn",
    "date +%s.%N",
)
CHAIN_PARTS = ("snapshot", "plan", "apply", "verify")
Json = dict[str, Any]
PROFILE = Path(__file__).parents[1] / "profiles" / "lossless-25g.yaml"


class Phases:
    """Wall and CPU seconds of each part."""

    def __init__(self) -> None:
        self.wall_s = {"import": time.perf_counter() - BEGIN}
        self.cpu_s = {"import": time.process_time()}

    def mark(self, name: str) -> None:
        """The next phase begins."""
        self.wall_s[name] = time.perf_counter() - BEGIN - sum(self.wall_s.values())
        self.cpu_s[name] = time.process_time() - sum(self.cpu_s.values())

    def told(self, answers: int) -> Json:
        """For the JSON line."""
        return {"wall_s": self.wall_s, "phase_cpu_s": self.cpu_s, "answers": answers}


def bare(fleet: Json) -> Json:
    """How bare asyncssh logs in: keys read once, no ssh_config, no agent."""
    import asyncssh

    return {
        "username": fleet["user"],
        "client_keys": [asyncssh.read_private_key(fleet["key_file"])],
        "known_hosts": asyncssh.read_known_hosts(fleet["known_hosts"]),
        "config": None,
        "agent_path": None,
    }


def floor(fleet: Json) -> Json:
    """Bare asyncssh: all six in one command, no framework, nothing kept."""
    import asyncio

    import asyncssh

    phases, how = Phases(), bare(fleet)
    script = "; echo; echo ---; ".join(READS)

    async def ask(port: int) -> int:
        async with asyncssh.connect("127.0.0.1", port, **how) as connection:
            done = await connection.run(script, check=True)
            return str(done.stdout).count("---") + 1

    async def everywhere() -> list[int]:
        return await asyncio.gather(*(ask(port) for port in fleet["ports"].values()))

    answers = sum(asyncio.run(everywhere()))
    phases.mark("reads")
    return phases.told(answers)


def fabric_group(fleet: Json) -> Json:
    """Plain Fabric: a ThreadingGroup, command by command, as its documentation shows it."""
    import fabric

    phases = Phases()
    answers = 0
    with fabric.ThreadingGroup.from_connections(fabric_connections(fleet)) as group:
        for read in READS:
            replies = group.run(read, hide=True, in_stream=False)
            answers += sum(bool(reply.ok) for reply in replies.values())
    phases.mark("reads")
    return phases.told(answers)


def fabric_connections(fleet: Json) -> list[Any]:
    """Keys as in the other clients; each connects with its first command."""
    import fabric

    config = fabric.Config(overrides={"load_ssh_configs": False})
    how = {
        "key_filename": str(fleet["key_file"]),
        "allow_agent": False,
        "look_for_keys": False,
    }
    return [
        fabric.Connection("127.0.0.1", user=fleet["user"], port=port, config=config,
                          connect_kwargs=dict(how))
        for port in fleet["ports"].values()
    ]  # fmt: skip


@contextmanager
def lab_of(fleet: Json, phases: Phases) -> Iterator[Any]:
    from labtests.core.clock import WallClock
    from labtests.inventory import load
    from labtests.lab.lab import Lab
    from labtests.transport.transcript import Transcript

    phases.mark("import labtests")
    whole = load(fleet["testbed"])
    hosts = tuple(device for device in whole.devices if device.name in fleet["ports"])
    testbed = replace(whole, devices=hosts)
    phases.mark("testbed")
    with Transcript(Path(fleet["folder"]) / "journal.jsonl") as transcript:
        lab = Lab.open(testbed, clock=WallClock(), backend="hardware", transcript=transcript)
        phases.mark("connect")
        with lab:
            yield lab
    phases.mark("close")


def six_reads(fleet: Json) -> Json:
    """labtests: strict host keys, deadlines on the hosts, everything in a journal."""
    phases = Phases()
    from labtests.transport.commands import script

    reads = tuple(map(script, READS))

    with lab_of(fleet, phases) as lab:

        def ask(device: Any) -> int:
            answers = lab.transports[device.name].answers(reads)
            return sum(answer.status == 0 for answer in answers)

        answers = sum(lab.of_each(ask).values())
        phases.mark("reads")
    return phases.told(answers)


def change(fleet: Json) -> Json:
    """labtests: snapshot, plan, apply, verify (a second snapshot and plan), undo, last snapshot."""
    phases, sent = Phases(), {}
    from labtests.profile.planning import made, planned
    from labtests.profile.reader import load
    from labtests.recovery.snapshot import compare, take

    profile = load(PROFILE).form
    with lab_of(fleet, phases) as lab:
        lab.ahead = on_disk(fleet, lab)

        def part(name: str, act: Callable[[], Any]) -> Any:
            before = sum(t.sent for t in lab.transports.values())
            found = act()
            phases.mark(name)
            sent[name] = sum(t.sent for t in lab.transports.values()) - before
            return found

        def snapshot() -> Any:
            return take(lab)

        found = part("snapshot", snapshot)
        plans = part("plan", lambda: planned(profile, lab))
        done = part("apply", lambda: made(profile, lab, plans))
        note_sent(fleet, lab)
        phases.mark("note")  # for the other tools: no part of the task
        after = part("verify", snapshot)
        assert done
        assert compare(found, after)
        part("undo", lab.put_back)
        assert not compare(found, part("proof", snapshot)), "the hosts are not as they were"
    return phases.told(len(done)) | {"sent": sent}


def on_disk(fleet: Json, lab: Any) -> Any:
    """A change journal as `labtests apply` has it: each change is on the disk before it is sent."""
    from labtests.journal import FILE_NAME, Begun, ChangeJournal, this_runner

    path = Path(fleet["folder"], FILE_NAME)
    path.unlink(missing_ok=True)  # of the round before
    begun = Begun(
        run="fleet",
        runner=this_runner(),
        testbed=lab.testbed.name,
        file=str(lab.testbed.file),
        backend=lab.backend,
        dry_run=True,
        devices=lab.testbed.devices,
    )
    return ChangeJournal.begin(path, begun, lab.transcript.redaction)


def note_sent(fleet: Json, lab: Any) -> None:
    """What the floor is to send: reads, commands, and those that undo them."""
    from labtests.capabilities.settings import KINDS
    from labtests.recovery.snapshot.taking import _read
    from labtests.transport.asking import Running, answered, side_by_side

    told: Json = {}
    for device in lab.testbed.devices:
        name = device.name
        kinds = [kind for kind in KINDS if lab.has(name, kind)]
        ends = [port.endpoint for port in device.ports]
        settings = [lab.setting(at, kind).read(at.interface) for at in ends for kind in kinds]
        seen = {"snapshot": Running(_read(lab, device)), "plan": Running(side_by_side(settings))}
        for running in seen.values():
            answered(running, lab.transports[name].answers)
        asked = {part: list(running.asked) for part, running in seen.items()}
        mine = [e.intent for e in lab.ahead.entries if e.intent.at.device == name]
        told[name] = asked | {
            "apply": [c for intent in mine for c in intent.commands] + asked["plan"],
            "undo": [c for intent in reversed(mine) for c in intent.undo],
        }
        told[name]["verify"] = told[name]["snapshot"]
    Path(fleet["folder"], "sent.json").write_text(json.dumps(told))


def sent_to_all(folder: Path) -> dict[str, list[str]]:
    """The commands of each part, which have to be the same on all hosts: that is how a
    ThreadingGroup and a playbook's tasks are written."""
    told = list(json.loads((folder / "sent.json").read_text()).values())
    for part in CHAIN_PARTS:
        if any(host[part] != told[0][part] for host in told):
            raise SystemExit(f"{part}: not all hosts are sent the same commands")
    return {part: told[0][part] for part in CHAIN_PARTS}


def change_fabric(fleet: Json) -> Json:
    """Plain Fabric: each command on all hosts at once, one after the other, nothing joined."""
    import fabric

    phases, sent, answers = Phases(), {}, 0
    chain = sent_to_all(Path(fleet["folder"]))
    with fabric.ThreadingGroup.from_connections(fabric_connections(fleet)) as group:
        for part in CHAIN_PARTS:  # it connects within the first
            for command in chain[part]:
                answers += len(group.run(command, hide=True, warn=True, in_stream=False))
            phases.mark(part)
            sent[part] = len(chain[part]) * len(fleet["ports"])
    return phases.told(answers) | {"sent": sent}


def change_undo(fleet: Json) -> Json:
    """Puts back what a tool has changed; digests of all settings before and after."""
    import asyncio
    import hashlib

    import asyncssh

    phases, how = Phases(), bare(fleet)
    told = json.loads(Path(fleet["folder"], "sent.json").read_text())

    async def put_back(name: str, port: int) -> tuple[str, str]:
        settings, undo = ("; echo ---; ".join(told[name][part]) for part in ("plan", "undo"))
        async with asyncssh.connect("127.0.0.1", port, **how) as line:
            found = str((await line.run(settings)).stdout)
            await line.run(undo)
            return found, str((await line.run(settings)).stdout)

    async def everywhere() -> list[tuple[str, str]]:
        return await asyncio.gather(*(put_back(*host) for host in fleet["ports"].items()))

    states = asyncio.run(everywhere())
    phases.mark("undo")
    found, left = (
        hashlib.sha256(repr(one).encode()).hexdigest() for one in zip(*states, strict=True)
    )
    return phases.told(len(states)) | {"found": found, "left": left}


def change_floor(fleet: Json) -> Json:
    """Bare asyncssh: each part of it one command, nothing compared, nothing kept."""
    import asyncio

    import asyncssh

    phases, sent, how = Phases(), {}, bare(fleet)
    told = json.loads(Path(fleet["folder"], "sent.json").read_text())

    async def connect(port: int) -> Any:
        return await asyncssh.connect("127.0.0.1", port, **how)

    async def everything() -> None:
        names = list(fleet["ports"])
        lines = await asyncio.gather(*map(connect, fleet["ports"].values()))
        phases.mark("connect")
        sent["connect"] = 0
        for part in (*CHAIN_PARTS, "undo"):
            scripts = ["; echo ---; ".join(told[name][part]) for name in names]
            runs = (line.run(script) for line, script in zip(lines, scripts, strict=True))
            replies = await asyncio.gather(*runs)
            assert all("---" in str(r.stdout) for r in replies)
            phases.mark(part)
            sent[part] = len(names)
        for line in lines:
            line.close()

    asyncio.run(everything())
    return phases.told(len(told)) | {"sent": sent}


KINDS = {
    "asyncssh": floor,
    "fabric": fabric_group,
    "labtests": six_reads,
    "change": change,
    "change-floor": change_floor,
    "change-fabric": change_fabric,
    "change-undo": change_undo,
}


def main() -> None:
    kind, file = sys.argv[1:3]
    told = KINDS[kind](json.loads(Path(file).read_text()))
    used = resource.getrusage(resource.RUSAGE_SELF)
    told["cpu_s"] = used.ru_utime + used.ru_stime
    told["rss_kib"] = used.ru_maxrss
    print(json.dumps(told))


if __name__ == "__main__":
    main()
