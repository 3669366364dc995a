"""labtests on many SSH hosts, beside the tools that people use, all in one run.

    python benchmarks/fleet.py [--hosts 64] [--runs 3] [--without-ansible | --sshd]

Six short reads of every host, on real sshd on loopback, each tool a process of its own, start to
end, imports included; the tools take turns, figures are medians. `floor` is bare asyncssh. Then
labtests' own growth with hosts and its memory, and snapshot, plan, apply and verify of a profile
on as many emulated ConnectX hosts, beside bare asyncssh, Fabric and Ansible's `raw` (once: it
takes minutes) that send the same; and which goals are met. `--sshd`: only the reads, of labtests,
Fabric and the floor, and their goals. Hosts and clients share this machine's cores: only ratios
within one table mean anything. Ansible comes from pip, into a venv that is removed at the end.
"""

import argparse
import os
import signal
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import fleet_ansible
import fleet_change
from fleet_clients import READS
from fleet_goals import print_goals
from fleet_hosts import Fleet, simulated_fleet, sshd_fleet
from fleet_runs import (
    FABRIC,
    FLOOR,
    LABTESTS,
    Json,
    ansible_name,
    client,
    median,
    ratio,
    work_ratio,
    working,
)

Tool = Callable[[], Json]


def main() -> None:
    asked = _arguments()
    signal.signal(signal.SIGTERM, _terminated)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]  # it takes minutes
    with tempfile.TemporaryDirectory(prefix="fleet-") as name:
        folder = Path(name)
        with _ansible(asked, folder) as ansible:
            with sshd_fleet(folder, asked.hosts) as fleet:
                found = _turns(_tools(fleet, folder, ansible), fleet, asked.runs)
                _print_tools(found, asked.hosts)
                if asked.sshd:
                    print_goals(found)
                    return
                _print_growth(fleet, folder, asked.runs)
            with simulated_fleet(folder, asked.hosts) as emulated:
                chain = fleet_change.measure_and_print(emulated, folder, asked.runs, ansible)
            print_goals(found, chain)


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


def _tools(fleet: Fleet, folder: Path, ansible: Path | None) -> dict[str, Tool]:
    tools: dict[str, Tool] = {
        FLOOR: lambda: client("asyncssh", fleet, folder),
        LABTESTS: lambda: client("labtests", fleet, folder),
        FABRIC: lambda: client("fabric", fleet, folder),
    }
    if ansible is not None:
        for module in fleet_ansible.MODULES:
            tools[ansible_name(module)] = _ansible_tool(ansible, fleet, module)
    return tools


def _ansible_tool(programs: Path, fleet: Fleet, module: str) -> Tool:
    return lambda: fleet_ansible.run(programs, fleet, module, READS)


# -- measuring -------------------------------------------------------------------------------------


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
        memory = f"{median(runs, 'rss_kib') / 1024:5.0f}" if "rss_kib" in runs[0] else ""
        print(
            f"{name:24} {median(runs, 'total_s'):8.2f} {span:>15}"
            f" {ratio(runs, found[FLOOR]):8.2f} {ratio(runs, found[LABTESTS]):11.2f}"
            f" {median(runs, 'cpu_s'):7.2f} {median(runs, 'server_cpu_s'):11.2f} {memory}"
        )
    ours, floor = found[LABTESTS], found[FLOOR]
    print(f"labtests without start and imports: {work_ratio(ours, floor):.2f} x floor")
    cpu = [(run["cpu_s"] + run["server_cpu_s"]) for run in ours]
    bare = [(run["cpu_s"] + run["server_cpu_s"]) for run in floor]
    both = statistics.median(one / other for one, other in zip(cpu, bare, strict=True))
    print(f"labtests, CPU of both sides, start and imports included: {both:.2f} x floor")
    _print_phases(ours, "labtests")


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
        pairs = [(client("labtests", some, folder), client("asyncssh", some, folder))
                 for _ in range(runs)]  # fmt: skip
        ours = [one for one, _ in pairs]
        wall_s = median([{"s": sum(working(run))} for run in ours], "s")
        rss_kib = median(ours, "rss_kib")
        first = first or rss_kib
        more = count - counts[0]
        each = f"{(rss_kib - first) / more:11.0f}" if more else f"{'':11}"
        print(
            f"{count:5} {wall_s:11.2f} {wall_s / count * 1e3:10.1f}"
            f" {median(ours, 'cpu_s') / count * 1e3:14.1f}"
            f" {ratio(ours, [floor for _, floor in pairs]):8.2f} {rss_kib / 1024:11.1f} {each}"
        )
    print("labtests s: without start and imports; KiB a host: what each host beyond the first "
          f"{counts[0]} adds")  # fmt: skip


if __name__ == "__main__":
    main()
