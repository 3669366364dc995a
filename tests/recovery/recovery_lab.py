"""A lab served by hand, runners that die in the middle of it, and everything that can be set."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from labtests.capabilities.settings import kind_of
from labtests.core.clock import WallClock
from labtests.core.errors import DeviceError
from labtests.inventory import Device, Endpoint, Testbed, load
from labtests.lab.lab import Lab
from labtests.transport.ssh.connecting import connect_all

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "tests" / "byhand"), str(ROOT / "tests")]  # also for breaking.py

import fast_starts  # noqa: E402
from served_lab import ServedLab  # noqa: E402
from typed import typed  # noqa: E402

SETTINGS = (
    "pfc",
    "trust",
    "ecn",
    "scheduling",
    "dscp_map",
    "reaction_point",
    "notification_point",
    "dcqcn_rp",
    "dcqcn_np",
    "pfc_alarm",
    "buffer_thresholds",
)
RAW = {
    "comware": ("display current-configuration", "display qos wred table"),
    "cumulus": (
        "nv show qos --applied -o json",
        "nv show interface --applied -o json",
        "nv config diff -o commands",
    ),
    "nxos": ("show running-config | exclude !",),
    "sonic": (  # its daemon leaves a buffer profile of its own behind
        *(f"sonic-cfggen -d --var-json {table}" for table in ("PORT_QOS_MAP", "BUFFER_PG")),
        *(f"sonic-cfggen -d --var-json {table}" for table in ("QUEUE", "WRED_PROFILE")),
        "sonic-db-cli CONFIG_DB KEYS 'BUFFER_PROFILE|labtests*'",
    ),
    "onyx": ("show running-config | exclude Generated",),
    "connectx": ("mlnx_qos -i {port}", "grep -r . /sys/class/net/{port}/ecn"),
}
TOOLS = "ps -eo args | grep -E '[i]b_send_bw|[i]perf3|[l]abtests-'"
ENDS_WITHIN_S = 60
QUICK_START = ("-p", "no:hypothesispytest", "-p", "no:cacheprovider", "--idle-s=0.3")
"""Loading the one takes seconds, and so does a lab that is watched while nothing happens."""


def written_testbed(served: ServedLab, folder: Path) -> Path:
    """The lab's testbed with the addresses where it is served, as a user would write it."""
    document: dict[str, Any] = yaml.safe_load(served.testbed.read_text())
    for name, device in document["devices"].items():
        device["management"] |= {
            "host": "127.0.0.1",
            "port": served.ports[name],
            "key_file": str(served.directory / "id_ed25519"),
            "known_hosts": str(served.directory / "known_hosts"),
            "ssh_config": False,
        }
    path = folder / "served.yaml"
    path.write_text(yaml.safe_dump(document, sort_keys=False))
    return path


@contextmanager
def opened(testbed: Testbed) -> Iterator[Lab]:
    """The lab, open for looking."""
    from labtests.drivers import driver_module

    sessions = {d.name: driver_module(d.platform).SESSION for d in testbed.devices}
    transports = connect_all(testbed.devices, lambda d: sessions[d.name], clock=WallClock())
    with Lab(testbed, transports, clock=WallClock(), backend="simulated") as lab:
        yield lab


def everything(lab: Lab) -> dict[str, object]:
    """All settings of all ports by the drivers, and the raw configuration of every device."""
    with ThreadPoolExecutor() as pool:
        each = list(pool.map(lambda device: _everything_of(lab, device), lab.testbed.devices))
    return {name: value for found in each for name, value in found.items()}


def _everything_of(lab: Lab, device: Device) -> dict[str, object]:
    found: dict[str, object] = {}
    run = lab.transports[device.name].run
    for port in device.ports:
        at = Endpoint(device=device.name, interface=port.interface)
        for name in SETTINGS:
            if lab.has(device.name, kind_of(name)):
                found[f"{at} {name}"] = _value(lab, at, name)
    for command in dict.fromkeys(
        raw.format(port=port.interface) for raw in RAW[device.platform] for port in device.ports
    ):
        found[f"{device.name} {command}"] = run(typed(command)).text
    return found


def _value(lab: Lab, at: Endpoint, name: str) -> object:
    try:
        return lab.current(at, kind_of(name))
    except DeviceError as error:  # such as a DSCP map on a port that does not trust DSCP
        return error.problem


def traffic_tools(lab: Lab) -> dict[str, str]:
    """What of ours still runs, by host."""
    hosts = [device.name for device in lab.testbed.devices if device.platform == "connectx"]
    listed = {host: lab.transports[host].run(typed(TOOLS)).text for host in hosts}
    return {host: text for host, text in listed.items() if text}


def nothing_runs(lab: Lab, deadline_s: float) -> bool:
    """No traffic tool is left within so many seconds."""
    until = time.monotonic() + deadline_s
    while traffic_tools(lab):
        if time.monotonic() > until:
            return False
        time.sleep(0.2)
    return True


@dataclass
class Project:
    """A folder as a user has it: a testbed file, a suite, a state folder of its own."""

    folder: Path
    served: ServedLab
    forked: bool = False  # else each run is a process of its own from the start
    state: Path = field(init=False)
    testbed_file: Path = field(init=False)

    def __post_init__(self) -> None:
        self.state = self.folder / "state"
        self.testbed_file = written_testbed(self.served, self.folder)
        (self.folder / "conftest.py").write_text((ROOT / "conftest.py").read_text())

    @property
    def testbed(self) -> Testbed:
        return load(self.testbed_file)

    @property
    def environment(self) -> Mapping[str, str]:
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("LABTESTS_", "PYTEST_"))}
        return clean | {"XDG_STATE_HOME": str(self.state), "PYTHONPATH": str(ROOT)}

    def suite(self, text: str) -> None:
        (self.folder / "test_suite.py").write_text(text)

    def pytest(self, *options: str, die_at: str = "") -> tuple[int, str]:
        """A run of the suite: exit code (-9: it killed itself when it printed this), and output."""
        words = ["pytest", "test_suite.py", "-s", "-q", *QUICK_START]
        words += ["--testbed", str(self.testbed_file), *options]
        return self._run(words, dict(self.environment) | {"DIE_AT": die_at})

    def labtests(self, *words: str) -> tuple[int, str]:
        return self._run(["labtests", *words], self.environment)

    def started(self, *options: str) -> "subprocess.Popen[str]":
        """A run of the suite that goes on beside us."""
        words = ["-m", "pytest", "test_suite.py", "-s", "-q", *QUICK_START]
        return self._start([sys.executable, *words, "--testbed", str(self.testbed_file), *options])

    def _run(self, words: Sequence[str], env: Mapping[str, str]) -> tuple[int, str]:
        if self.forked:
            return fast_starts.run(words, cwd=self.folder, env=env)
        process = self._start([sys.executable, "-m", *words], env)
        said, _ = process.communicate(timeout=ENDS_WITHIN_S)
        return process.returncode, said

    def _start(
        self, command: Sequence[str], env: Mapping[str, str] | None = None
    ) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [*command],
            cwd=self.folder,
            env=self.environment if env is None else env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def killed(self, process: "subprocess.Popen[str]", at: str) -> str:
        """kill -9 as soon as it has printed this; what it had said."""
        said = ""
        assert process.stdout is not None
        for line in process.stdout:
            said += line
            if at in line:
                process.send_signal(signal.SIGKILL)
                process.wait()
                process.stdout.close()
                return said
        raise AssertionError(said)
