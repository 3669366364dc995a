"""Ansible as fleet.py runs it: all hosts at once, pipelining, connections kept during a run."""

import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from fleet_hosts import LOOPBACK, Fleet

MODULES = ("raw", "shell")
"""`raw` sends a command as it is; `shell` is an ordinary module: Python on the host."""
LIMIT_S = 1800
TOLD_EVERY = 10  # tasks


def installed(folder: Path) -> Path | None:
    """The bin folder of a venv with ansible-core; None, and why is printed."""
    place = folder / "ansible"
    steps = (
        [sys.executable, "-m", "venv", str(place)],
        [str(place / "bin" / "pip"), "install", "--quiet", "ansible-core"],
    )
    for step in steps:
        done = subprocess.run(step, capture_output=True, text=True)
        if done.returncode != 0:
            said = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
            print(f"Ansible is left out: pip could not get ansible-core ({said})\n")
            return None
    return place / "bin"


def run(
    programs: Path, fleet: Fleet, module: str, commands: tuple[str, ...], *, may_fail: bool = False
) -> dict[str, Any]:
    """A playbook with these commands as tasks, on every host. Its connections end with it.
    `may_fail`: a command that fails has answered, too. Of a long list progress is printed."""
    with tempfile.TemporaryDirectory(prefix="ans-") as name:  # short: sockets have paths of 108 B
        folder = Path(name)
        _write(folder, fleet, _tasks(module, commands, may_fail))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        begun = time.perf_counter()
        answers = _play(programs, folder, len(commands))
        total_s = time.perf_counter() - begun
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        _end_connections(folder)
    return {
        "total_s": total_s,
        "answers": answers,
        "cpu_s": used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime,
    }


def _play(programs: Path, folder: Path, tasks: int) -> int:
    """How many answers came."""
    errors = folder / "errors"
    begun = time.perf_counter()
    said: list[str] = []
    with errors.open("w") as stderr:
        player = subprocess.Popen(
            [programs / "ansible-playbook", "-i", "hosts.json", "play.json"],
            cwd=folder,
            env={**os.environ, "ANSIBLE_CONFIG": str(folder / "ansible.cfg")},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        )
    limit = threading.Timer(LIMIT_S, player.kill)
    limit.start()
    done = 0
    try:
        assert player.stdout is not None
        for line in player.stdout:
            said.append(line)
            if line.startswith("TASK ["):
                done += 1
                if done % TOLD_EVERY == 0:
                    spent_s = time.perf_counter() - begun
                    print(f"  Ansible: task {done} of {tasks} after {spent_s:.0f} s")
        player.wait()
    finally:
        limit.cancel()
        player.kill()
        player.wait()
    if player.returncode != 0:
        text = "".join(said)[-2000:] + errors.read_text()[-2000:]
        raise SystemExit(f"ansible-playbook ended with {player.returncode}:\n{text}")
    return sum(line.startswith("changed: [") for line in said)


def _tasks(module: str, commands: tuple[str, ...], may_fail: bool) -> list[dict[str, Any]]:
    more = {"failed_when": False} if may_fail else {}
    return [{f"ansible.builtin.{module}": command, **more} for command in commands]


def _write(folder: Path, fleet: Fleet, tasks: list[dict[str, Any]]) -> None:
    hosts = {
        name: {
            "ansible_host": LOOPBACK,
            "ansible_port": port,
            "ansible_user": fleet.user,
            "ansible_ssh_private_key_file": str(fleet.key_file),
            "ansible_python_interpreter": sys.executable,
        }
        for name, port in fleet.ports.items()
    }
    play = {"hosts": "all", "gather_facts": False, "tasks": tasks}
    (folder / "hosts.json").write_text(json.dumps({"all": {"hosts": hosts}}))
    (folder / "play.json").write_text(json.dumps([play]))
    (folder / "ansible.cfg").write_text(
        f"[defaults]\nforks = {len(hosts)}\nhost_key_checking = True\nnocows = True\n"
        f"local_tmp = {folder}/tmp\n"
        "[ssh_connection]\npipelining = True\n"
        "ssh_args = -F /dev/null -o ControlMaster=auto -o ControlPersist=60s "
        f"-o UserKnownHostsFile={fleet.known_hosts}\ncontrol_path_dir = {folder}/cp\n"
    )


def _end_connections(folder: Path) -> None:
    for socket in (folder / "cp").glob("*"):
        words = ["ssh", "-F", "/dev/null", "-o", f"ControlPath={socket}", "-O", "exit", LOOPBACK]
        subprocess.run(words, capture_output=True)
