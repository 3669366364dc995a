"""The second task of fleet.py: snapshot, plan, apply and verify of a profile, by each tool.

labtests goes first and leaves behind what it sent to each host; the others send the same. After
each tool the hosts are put back, which is looked at: every tool makes real changes, and the same.
"""

import statistics
from pathlib import Path

import fleet_ansible
from fleet_clients import CHAIN_PARTS, sent_to_all
from fleet_hosts import Fleet
from fleet_runs import FABRIC, FLOOR, LABTESTS, Json, ansible_name, client, median, ratio

CHAIN = ("connect", *CHAIN_PARTS)
BESIDE = ("undo", "proof", "note")
"""What a client does besides the chain: not in the figures of the tools."""
Found = dict[str, list[Json]]


def measure_and_print(fleet: Fleet, folder: Path, runs: int, programs: Path | None) -> Found:
    """Fabric in every round; Ansible, which takes minutes, once. `programs`: Ansible's, if any."""
    found: Found = {LABTESTS: [], FLOOR: [], FABRIC: []}
    servers_s: list[float] = []
    original = applied = ""
    print()
    for number in range(1, runs + 1):
        print(f"profile, round {number} of {runs}")
        before_s = fleet.cpu_s()
        found[LABTESTS].append(_chain_of("change", fleet, folder))
        servers_s.append(fleet.cpu_s() - before_s)
        found[FLOOR].append(_chain_of("change-floor", fleet, folder))
        original = original or _original(fleet, folder)
        found[FABRIC].append(_chain_of("change-fabric", fleet, folder))
        _expect_answers(FABRIC, found[FABRIC][-1], fleet, folder)
        applied = _put_back(FABRIC, fleet, folder, original, applied)
    if programs is not None:
        found[ansible_name("raw")] = [_ansible(programs, fleet, folder)]
        _put_back(ansible_name("raw"), fleet, folder, original, applied)
    _print_parts(found, servers_s, len(fleet.ports))
    _print_tools(found, folder, len(fleet.ports))
    return found


def _chain_of(kind: str, fleet: Fleet, folder: Path) -> Json:
    """A client's run; `total_s` and `parts_s` are of the chain, without what it did besides."""
    run = client(kind, fleet, folder)
    wall_s = run["wall_s"]
    print(f"  {kind}: {run['total_s']:.1f} s")
    return run | {
        "total_s": run["total_s"] - sum(wall_s.get(part, 0.0) for part in BESIDE),
        "parts_s": sum(wall_s.get(part, 0.0) for part in CHAIN),
    }


def _ansible(programs: Path, fleet: Fleet, folder: Path) -> Json:
    """One task a command, as a playbook has it; a command may fail, as in the other tools."""
    name = ansible_name("raw")
    chain = sent_to_all(folder)
    commands = tuple(command for part in CHAIN_PARTS for command in chain[part])
    run = fleet_ansible.run(programs, fleet, "raw", commands, may_fail=True)
    _expect_answers(name, run, fleet, folder)
    return run


def _expect_answers(name: str, run: Json, fleet: Fleet, folder: Path) -> None:
    expected = _commands_per_host(folder) * len(fleet.ports)
    if run["answers"] != expected:
        raise SystemExit(f"{name}: {run['answers']} answers instead of {expected}")


def _commands_per_host(folder: Path) -> int:
    chain = sent_to_all(folder)
    return sum(len(chain[part]) for part in CHAIN_PARTS)


def _original(fleet: Fleet, folder: Path) -> str:
    """A digest of all settings, which labtests and the floor have to have put back."""
    state = client("change-undo", fleet, folder)
    if state["found"] != state["left"]:
        raise SystemExit("labtests or the floor has left hosts changed")
    return str(state["left"])


def _put_back(name: str, fleet: Fleet, folder: Path, original: str, applied: str) -> str:
    """The digest of the settings that the tool has made; `applied`: of the one before it."""
    state = client("change-undo", fleet, folder)
    if state["found"] == original:
        raise SystemExit(f"{name} has changed nothing")
    if applied and state["found"] != applied:
        raise SystemExit(f"{name} has not made the settings that the tool before it had made")
    if state["left"] != original:
        raise SystemExit(f"after {name}: the hosts are not back as they were")
    return str(state["found"])


# -- printing --------------------------------------------------------------------------------------


def _print_parts(all_found: Found, servers_s: list[float], hosts: int) -> None:
    found, floors = all_found[LABTESTS], all_found[FLOOR]
    print(f"\nprofiles/lossless-25g.yaml on {hosts} emulated hosts: {found[0]['answers']} settings "
          f"changed\n{'':16} {'s':>7} {'ms a host':>10} {'cpu s':>6} {'exchanges a host':>17} "
          f"{'floor s':>8} {'exchanges':>10}")  # fmt: skip
    for part in found[0]["wall_s"]:
        wall_s = _part_s(found, part)
        cpu_s = statistics.median(run["phase_cpu_s"][part] for run in found)
        sent = found[0]["sent"].get(part)
        each = "" if sent is None else f"{sent / hosts:.1f}"
        bare = floors[0]["sent"].get(part)
        beside = "" if bare is None else f"{_part_s(floors, part):8.2f} {bare / hosts:10.1f}"
        row = f"{part[:16]:16} {wall_s:7.2f} {wall_s / hosts * 1e3:10.1f} {cpu_s:6.2f} {each:>17}"
        print(f"{row} {beside}")
    print(f"{', '.join(CHAIN)}: {ratio(found, floors, 'parts_s'):.2f} x floor")
    print(
        f"labtests {median(found, 'cpu_s'):.2f} s CPU, {median(found, 'rss_kib') / 1024:.0f} MiB;"
        f" the simulated lab {statistics.median(servers_s):.2f} s CPU on one core"
    )


def _part_s(runs: list[Json], part: str) -> float:
    return statistics.median(float(run["wall_s"][part]) for run in runs)


def _print_tools(found: Found, folder: Path, hosts: int) -> None:
    ours, floor = found[LABTESTS], found[FLOOR]
    print(
        f"\nconnect, snapshot, plan, apply and verify on {hosts} hosts, "
        f"{_commands_per_host(folder)} commands a host\n"
        f"{'':24} {'whole process s':>16} {'x floor':>8} {'x labtests':>11}"
        f" {'its parts s':>12} {'x floor':>8} {'x labtests':>11} {'runs':>5}"
    )
    for name in (FLOOR, LABTESTS, FABRIC, ansible_name("raw")):
        if runs := found.get(name):
            columns = f"{name:24} {median(runs, 'total_s'):16.2f}"
            columns += f" {ratio(runs, floor):8.2f} {ratio(runs, ours):11.2f}"
            parts = f"{'':12} {'':8} {'':11}"
            if "parts_s" in runs[0]:
                parts = f"{median(runs, 'parts_s'):12.2f} {ratio(runs, floor, 'parts_s'):8.2f}"
                parts += f" {ratio(runs, ours, 'parts_s'):11.2f}"
            print(f"{columns} {parts} {len(runs):5}")
    print(
        "whole process: start and imports included; its parts: without; undo is in neither\n"
        "floor and labtests join commands, Fabric and Ansible send one after the other\n"
        "Ansible's ordinary modules are not in this table: they need Python on the host, which "
        "emulated hosts do not have"
    )
    if ansible_name("raw") not in found:
        print("Ansible raw was left out")
