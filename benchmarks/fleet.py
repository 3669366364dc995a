"""labtests on many SSH hosts, beside the tools that people use, all in one run.

    python benchmarks/fleet.py [--hosts 64] [--runs 3] [--without-ansible | --sshd]

Six short reads of every host, on real sshd on loopback, each tool a process of its own, start to
end, imports included; the tools take turns, figures are medians. `floor` is bare asyncssh. Then
labtests' own growth with hosts and its memory, and snapshot, plan, apply and verify of a profile
on as many emulated ConnectX hosts, beside bare asyncssh that sends the same. `--sshd`: only the
reads, of labtests, Fabric and the floor, and whether the goals are met. Hosts and clients share
this machine's cores: only ratios within one table mean anything. Ansible comes from pip, into a
venv that is removed at the end.
"""

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import fleet_ansible
from fleet_clients import READS
from fleet_hosts import Fleet, simulated_fleet, sshd_fleet, testbed_text

CLIENTS = Path(__file__).with_name("fleet_clients.py")
LIMIT_S = 1800
CHAIN = ("connect", "snapshot", "plan", "apply", "verify")
FLOOR, LABTESTS = "floor: bare asyncssh", "labtests"
FABRIC = "Fabric ThreadingGroup"
Json = dict[str, Any]
Tool = Callable[[], Json]


def main() -> None:
    asked = _arguments()
    signal.signal(signal.SIGTERM, _terminated)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]  # it takes minutes
    with tempfile.TemporaryDirectory(prefix="fleet-") as name:
        folder = Path(name)
        with _ansible(asked, folder) as ansible, sshd_fleet(folder, asked.hosts) as fleet:
            tools: dict[str, Tool] = {
                FLOOR: lambda: _client("asyncssh", fleet, folder),
                LABTESTS: lambda: _client("labtests", fleet, folder),
                FABRIC: lambda: _client("fabric", fleet, folder),
            }
            if ansible is not None:
                for module in fleet_ansible.MODULES:
                    tools[f"Ansible, {module}"] = _ansible_tool(ansible, fleet, module)
            found = _turns(tools, fleet, asked.runs)
            _print_tools(found, asked.hosts)
            if asked.sshd:
                _print_goals(found)
                return
            _print_growth(fleet, folder, asked.runs)
        with simulated_fleet(folder, asked.hosts) as emulated:
            _print_change(emulated, folder, asked.runs)


def _terminated(*_: object) -> None:
    """No server is left behind; and whoever reads the output knows why it ends here."""
    sys.exit("ended by SIGTERM")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="labtests on many SSH hosts, beside other tools")
    parser.add_argument("--hosts", type=int, default=64)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--without-ansible", action="store_true")
    parser.add_argument("--sshd", action="store_true", help="only the reads, without Ansible")
    parser.add_argument("--ansible", type=Path, help="the bin folder of a venv that has it already")
    return parser.parse_args()


@contextmanager
def _ansible(asked: argparse.Namespace, folder: Path) -> Iterator[Path | None]:
    if asked.without_ansible or asked.sshd:
        yield None
    elif asked.ansible:
        yield asked.ansible
    else:
        yield fleet_ansible.installed(folder)


def _ansible_tool(programs: Path, fleet: Fleet, module: str) -> Tool:
    return lambda: fleet_ansible.run(programs, fleet, module, READS)


# -- measuring -------------------------------------------------------------------------------------


def _client(kind: str, fleet: Fleet, folder: Path) -> Json:
    """One client process; its own figures, `total_s` from start to end, and the servers' CPU."""
    testbed = folder / "testbed.yaml"
    testbed.write_text(testbed_text(fleet))
    told = {
        "ports": fleet.ports,
        "user": fleet.user,
        "key_file": str(fleet.key_file),
        "known_hosts": str(fleet.known_hosts),
        "testbed": str(testbed),
        "folder": str(folder),
    }
    file = folder / "fleet.json"
    file.write_text(json.dumps(told))
    begun = time.perf_counter()
    root = str(CLIENTS.parents[1])
    done = subprocess.run(
        [sys.executable, CLIENTS, kind, file],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        env={**os.environ, "PYTHONPATH": root},
    )
    if done.returncode != 0:  # on stdout too: there it ends up beside the tables
        print(f"{kind} on {len(fleet.ports)} hosts ended with {done.returncode}:\n{done.stderr}")
        raise SystemExit(1)
    found: Json = json.loads(done.stdout)
    return found | {"total_s": time.perf_counter() - begun}


def _turns(tools: dict[str, Tool], fleet: Fleet, runs: int) -> dict[str, list[Json]]:
    """The tools one after the other, `runs` times; all answers were there."""
    found: dict[str, list[Json]] = {name: [] for name in tools}
    for _ in range(runs):
        for name, tool in tools.items():
            before_s = fleet.cpu_s()
            told = tool()
            expected = len(fleet.ports) * len(READS)
            if told["answers"] != expected:
                raise SystemExit(f"{name}: {told['answers']} answers instead of {expected}")
            found[name].append(told | {"server_cpu_s": fleet.cpu_s() - before_s})
    return found


def _median(runs: list[Json], key: str) -> float:
    return statistics.median(float(run[key]) for run in runs)


def _ratio(runs: list[Json], others: list[Json]) -> float:
    """Of neighbouring runs, so that it means the same on a machine that is busy at times."""
    pairs = zip(runs, others, strict=True)
    return statistics.median(float(one["total_s"] / other["total_s"]) for one, other in pairs)


def _work_ratio(runs: list[Json], others: list[Json]) -> float:
    """The same without start and imports."""
    pairs = zip(runs, others, strict=True)
    return statistics.median(sum(_working(one)) / sum(_working(other)) for one, other in pairs)


def _working(run: Json) -> list[float]:
    return [s for part, s in run["wall_s"].items() if not part.startswith("import")]


# -- printing --------------------------------------------------------------------------------------


def _print_tools(found: dict[str, list[Json]], hosts: int) -> None:
    print(f"six reads on {hosts} hosts, sshd on loopback, {os.cpu_count()} cores for both sides")
    print(
        f"{'':24} {'wall s':>8} {'range':>15} {'x floor':>8} {'x labtests':>11} {'cpu s':>7}"
        f" {'sshd cpu s':>11} {'MiB':>5}"
    )
    for name, runs in found.items():
        walls = sorted(run["total_s"] for run in runs)
        span = f"{walls[0]:.2f}-{walls[-1]:.2f}"
        memory = f"{_median(runs, 'rss_kib') / 1024:5.0f}" if "rss_kib" in runs[0] else ""
        print(
            f"{name:24} {_median(runs, 'total_s'):8.2f} {span:>15}"
            f" {_ratio(runs, found[FLOOR]):8.2f} {_ratio(runs, found[LABTESTS]):11.2f}"
            f" {_median(runs, 'cpu_s'):7.2f} {_median(runs, 'server_cpu_s'):11.2f} {memory}"
        )
    ours, floor = found[LABTESTS], found[FLOOR]
    print(f"labtests without start and imports: {_work_ratio(ours, floor):.2f} x floor")
    cpu = [(run["cpu_s"] + run["server_cpu_s"]) for run in ours]
    bare = [(run["cpu_s"] + run["server_cpu_s"]) for run in floor]
    ratio = statistics.median(one / other for one, other in zip(cpu, bare, strict=True))
    print(f"labtests, CPU of both sides, start and imports included: {ratio:.2f} x floor")
    _print_phases(ours, "labtests")


def _print_goals(found: dict[str, list[Json]]) -> None:
    """Issue 5's: no slower than Fabric, and within 1.3 times the floor. Of neighbouring runs."""
    ours, floor, fabric = found[LABTESTS], found[FLOOR], found[FABRIC]
    rows = (
        ("x Fabric ThreadingGroup, whole processes", 1.0, _ratio(ours, fabric)),
        ("x Fabric ThreadingGroup, without start and imports", 1.0, _work_ratio(ours, fabric)),
        ("x floor, whole processes", 1.3, _ratio(ours, floor)),
        ("x floor, without start and imports", 1.3, _work_ratio(ours, floor)),
    )
    print(f"\n{'labtests':52} {'goal':>5} {'found':>6}")
    for name, goal, ratio in rows:
        print(f"{name:52} {goal:5.2f} {ratio:6.2f} {'met' if ratio <= goal else 'missed'}")


def _print_phases(runs: list[Json], name: str) -> None:
    parts = runs[0]["wall_s"]
    told = ", ".join(
        f"{part} {statistics.median(run['wall_s'][part] for run in runs):.2f}" for part in parts
    )
    print(f"{name}, seconds: {told}")


def _print_growth(fleet: Fleet, folder: Path, runs: int) -> None:
    counts = [n for n in (8, 16, 32, 64, 128) if n < len(fleet.ports)] + [len(fleet.ports)]
    print(
        f"\ngrowth with hosts\n{'hosts':>5} {'labtests s':>11} {'ms a host':>10}"
        f" {'cpu ms a host':>14} {'x floor':>8} {'memory MiB':>11} {'KiB a host':>11}"
    )
    first: float | None = None
    for count in counts:
        some = fleet.first(count)
        pairs = [(_client("labtests", some, folder), _client("asyncssh", some, folder))
                 for _ in range(runs)]  # fmt: skip
        ours = [one for one, _ in pairs]
        wall_s = _median([{"s": sum(_working(run))} for run in ours], "s")
        rss_kib = _median(ours, "rss_kib")
        first = first or rss_kib
        more = count - counts[0]
        each = f"{(rss_kib - first) / more:11.0f}" if more else f"{'':11}"
        print(
            f"{count:5} {wall_s:11.2f} {wall_s / count * 1e3:10.1f}"
            f" {_median(ours, 'cpu_s') / count * 1e3:14.1f}"
            f" {_ratio(ours, [floor for _, floor in pairs]):8.2f} {rss_kib / 1024:11.1f} {each}"
        )
    print("labtests s: without start and imports; KiB a host: what each host beyond the first "
          f"{counts[0]} adds")  # fmt: skip


def _print_change(fleet: Fleet, folder: Path, runs: int) -> None:
    hosts = len(fleet.ports)
    found: list[Json] = []
    floors: list[Json] = []
    servers_s: list[float] = []
    for _ in range(runs):
        before_s = fleet.cpu_s()
        found.append(_client("change", fleet, folder))
        servers_s.append(fleet.cpu_s() - before_s)
        floors.append(_client("change-floor", fleet, folder))
    print(f"\nprofiles/lossless-25g.yaml on {hosts} emulated hosts: {found[0]['answers']} settings "
          f"changed\n{'':16} {'s':>7} {'ms a host':>10} {'cpu s':>6} {'exchanges a host':>17} "
          f"{'floor s':>8} {'exchanges':>10}")  # fmt: skip
    for part in found[0]["wall_s"]:
        wall_s = statistics.median(run["wall_s"][part] for run in found)
        cpu_s = statistics.median(run["phase_cpu_s"][part] for run in found)
        sent = found[0]["sent"].get(part)
        each = "" if sent is None else f"{sent / hosts:.1f}"
        bare = floors[0]["sent"].get(part)
        beside = "" if bare is None else f"{_part_s(floors, part):8.2f} {bare / hosts:10.1f}"
        row = f"{part[:16]:16} {wall_s:7.2f} {wall_s / hosts * 1e3:10.1f} {cpu_s:6.2f} {each:>17}"
        print(f"{row} {beside}")
    pairs = zip(found, floors, strict=True)
    ratio = statistics.median(
        sum(ours["wall_s"][part] for part in CHAIN) / sum(bare["wall_s"][part] for part in CHAIN)
        for ours, bare in pairs
    )
    print(f"{', '.join(CHAIN)}: {ratio:.2f} x floor")
    print(
        f"labtests {_median(found, 'cpu_s'):.2f} s CPU, {_median(found, 'rss_kib') / 1024:.0f} MiB;"
        f" the simulated lab {statistics.median(servers_s):.2f} s CPU on one core"
    )


def _part_s(runs: list[Json], part: str) -> float:
    return statistics.median(float(run["wall_s"][part]) for run in runs)


if __name__ == "__main__":
    main()
