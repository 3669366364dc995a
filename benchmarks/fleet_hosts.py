"""The hosts of fleet.py, on loopback only: real sshd, and a simulated lab of ConnectX hosts."""

import getpass
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

LOOPBACK = "127.0.0.1"
PORTS_PER_SSHD = 16  # its limit
READY_WITHIN_S = 120.0
SWITCH, PORT = "switch", "ens1np0"
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Fleet:
    """Hosts that are up: where (by name), as whom, with which files."""

    ports: dict[str, int]
    user: str
    key_file: Path
    known_hosts: Path
    servers: tuple[int, ...] = ()

    def first(self, count: int) -> "Fleet":
        """The same with so many hosts."""
        chosen = dict(list(self.ports.items())[:count])
        return Fleet(chosen, self.user, self.key_file, self.known_hosts, self.servers)

    def cpu_s(self) -> float:
        """CPU time that the servers and their ended children have used."""
        total = 0
        for pid in self.servers:
            with suppress(OSError):
                words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                total += sum(map(int, words[11:15]))  # utime, stime, and both of the children
        return total / TICKS_PER_S


@contextmanager
def sshd_fleet(folder: Path, count: int) -> Iterator[Fleet]:
    """So many ports of real sshd, 16 a process, that let in one key."""
    sshd = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:/usr/bin")
    if sshd is None:
        raise SystemExit("sshd is not installed (Debian, Ubuntu: apt install openssh-server)")
    for name in ("host_key", "user_key"):
        made = folder / name
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", made], check=True)
    shutil.copy(folder / "user_key.pub", folder / "authorized_keys")
    ports = _free_ports(count)
    key = " ".join((folder / "host_key.pub").read_text().split()[:2])
    known = folder / "known_hosts"
    known.write_text("".join(f"[{LOOPBACK}]:{port} {key}\n" for port in ports))
    if os.getuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)
    with ExitStack() as stack:
        servers = []
        for start in range(0, count, PORTS_PER_SSHD):
            chunk = ports[start : start + PORTS_PER_SSHD]
            config = folder / f"sshd_config_{start}"
            config.write_text(_sshd_config(folder, start, chunk))
            server = subprocess.Popen([sshd, "-D", "-f", config], stderr=subprocess.DEVNULL)
            stack.callback(_end_sshd, server)
            servers.append(server.pid)
        _expect_open(ports)
        names = {f"host{number:03}": port for number, port in enumerate(ports, start=1)}
        yield Fleet(names, getpass.getuser(), folder / "user_key", known, tuple(servers))


def _sshd_config(folder: Path, number: int, ports: list[int]) -> str:
    return "\n".join(
        [
            *(f"Port {port}" for port in ports),
            f"ListenAddress {LOOPBACK}",
            f"HostKey {folder}/host_key",
            f"AuthorizedKeysFile {folder}/authorized_keys",
            f"PidFile {folder}/sshd{number}.pid",
            "StrictModes no",
            "UsePAM no",
            "PasswordAuthentication no",
            "PermitRootLogin prohibit-password",
            "MaxStartups 200:30:400",
            "MaxSessions 100",
            "SetEnv SHLVL=2",  # keeps bash from reading ~/.bashrc for every command
            "",
        ]
    )


def _end_sshd(server: subprocess.Popen[bytes]) -> None:
    children = Path(f"/proc/{server.pid}/task/{server.pid}/children")
    with suppress(OSError):  # it may be gone, or the kernel not tell
        for child in children.read_text().split():
            with suppress(ProcessLookupError):  # sessions outlive their listener
                os.kill(int(child), signal.SIGTERM)
    server.terminate()
    try:
        server.wait(10)
    except subprocess.TimeoutExpired:  # a busy machine; the next table is to come all the same
        server.kill()
        server.wait()


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        probes = [stack.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind((LOOPBACK, 0))
        return [probe.getsockname()[1] for probe in probes]


def _expect_open(ports: list[int]) -> None:
    deadline = time.monotonic() + READY_WITHIN_S
    for port in ports:
        while True:
            with socket.socket() as probe:
                if probe.connect_ex((LOOPBACK, port)) == 0:
                    break
            if time.monotonic() > deadline:
                raise SystemExit(f"sshd does not listen on port {port}")
            time.sleep(0.02)


# -- the simulated lab -----------------------------------------------------------------------------


@contextmanager
def simulated_fleet(folder: Path, count: int) -> Iterator[Fleet]:
    """So many emulated ConnectX hosts on one emulated switch, in a process of their own that runs
    by the wall clock."""
    file = folder / "simulated.yaml"
    file.write_text(_simulated_testbed(count))
    keys = folder / "simulated"
    words = [sys.executable, "-m", "labtests", "simlab", "serve", str(file)]
    with (folder / "simulated.log").open("w+b") as log:
        server = subprocess.Popen([*words, "--directory", str(keys)], stdout=log, stderr=log)
        try:
            ports = _announced(server, keys / "ssh_config", folder / "simulated.log")
            hosts = {name: port for name, port in ports.items() if name != SWITCH}
            yield Fleet(hosts, "root", keys / "id_ed25519", keys / "known_hosts", (server.pid,))
        finally:
            server.terminate()
            server.wait(30)


def _announced(server: subprocess.Popen[bytes], config: Path, log: Path) -> dict[str, int]:
    deadline = time.monotonic() + READY_WITHIN_S
    while b"Ctrl-C" not in log.read_bytes():
        if server.poll() is not None or time.monotonic() > deadline:
            raise SystemExit(f"the simulated lab did not start:\n{log.read_text()}")
        time.sleep(0.2)
    ports: dict[str, int] = {}
    name = ""
    for line in config.read_text().splitlines():
        key, _, value = line.strip().partition(" ")
        name = value if key == "Host" else name
        if key == "Port":
            ports[name] = int(value)
    return ports


def _simulated_testbed(count: int) -> str:
    lines = ["name: fleet-simulated", "devices:"]
    for n in range(1, count + 1):
        lines += [f"  host{n:03}:", "    platform: connectx"]
        lines += [f"    management: {{host: 127.0.1.{n}}}", f"    ports: {{{_port(n)}}}"]
    return "\n".join(lines + _switch_lines(count)) + "\n"


def _port(number: int) -> str:
    return f"{PORT}: {{rdma: mlx5_0, address: 172.16.0.{number}/24}}"


def _switch_lines(count: int) -> list[str]:
    """A switch that all hosts are cabled to."""
    lines = [f"  {SWITCH}:", "    platform: comware", "    management: {host: 127.0.2.1}"]
    lines += ["    ports:", *(f"      Twenty-FiveGigE1/0/{n}: {{}}" for n in range(1, count + 1))]
    lines += ["links:"]
    for n in range(1, count + 1):
        ends = f'"host{n:03}:{PORT}", "{SWITCH}:Twenty-FiveGigE1/0/{n}"'
        lines += [f"  - {{between: [{ends}], speed_gbit_per_s: 25, length_m: 3}}"]
    return lines


def testbed_text(fleet: Fleet) -> str:
    """A testbed file of these hosts, and a switch that is in no fleet."""
    lines = ["name: fleet", "devices:"]
    for number, (name, port) in enumerate(fleet.ports.items(), start=1):
        lines += [f"  {name}:", "    platform: connectx", "    management:"]
        lines += [f"      host: {LOOPBACK}", f"      port: {port}", f"      user: {fleet.user}"]
        lines += [f"      key_file: {fleet.key_file}", f"      known_hosts: {fleet.known_hosts}"]
        lines += ["      ssh_config: false", f"    ports: {{{_port(number)}}}"]
    return "\n".join(lines + _switch_lines(len(fleet.ports))) + "\n"
