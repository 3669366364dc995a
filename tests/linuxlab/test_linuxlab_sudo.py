"""A lab whose hosts are reached as an ordinary user with real sudo, no sbin in PATH, and a testbed
file written by hand. Root only."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from linux_labs import loaded, traces
from sudo_boxes import by_hand, change_sudoers, let_ops_in
from typed import typed

from labtests.check.command import expect_usable
from labtests.core.clock import WallClock
from labtests.core.errors import LabErrors
from labtests.linuxlab import command
from labtests.recovery.snapshot.command import snapshot as take
from labtests.recovery.snapshot.session import Access, opened
from labtests.transport.ssh.connecting import SHELL, connect_all
from labtests.workloads.leftovers import leftovers, sweep

pytestmark = [
    pytest.mark.usefixtures("machine"),
    pytest.mark.skipif(
        shutil.which("sudo") is None, reason="there is no real sudo here: apt-get install sudo"
    ),
]

ROOT = Path(__file__).parent.parent.parent
SUDOERS = ("Defaults use_pty, env_reset", "ops ALL=(ALL) NOPASSWD: ALL")


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory, machine: None) -> Iterator[SimpleNamespace]:
    """The lab of testbeds/linux-lab.yaml under another name, and the file of a stranger."""
    name, folder = f"sudo-{os.getpid()}", tmp_path_factory.mktemp("lab")
    text = (ROOT / "testbeds" / "linux-lab.yaml").read_text()
    text = text.replace("linux-lab", name).replace("10.255.71.", f"10.252.{os.getpid() % 250}.")
    file = folder / f"{name}.yaml"
    file.write_text(text)
    testbed = loaded(file)
    command.up(testbed, lambda _: None)
    try:
        let_ops_in(testbed, *SUDOERS)
        written = by_hand(testbed, file, folder)
        yield SimpleNamespace(file=written, testbed=loaded(written), up=testbed)
    finally:
        command.down(name, lambda _: None)
    assert traces(name) == []


@pytest.fixture
def hosts(lab: SimpleNamespace) -> Iterator[SimpleNamespace]:
    devices = lab.testbed.devices
    sessions = dict.fromkeys((device.name for device in devices), SHELL)
    transports = connect_all(devices, lambda d: sessions[d.name], clock=WallClock(), run="dead-7")
    yield SimpleNamespace(**transports)
    for transport in transports.values():
        transport.close()


def test_iperf3_runs_as_root_and_nothing_of_it_stays(hosts: SimpleNamespace) -> None:
    server = hosts.h3.start(typed("iperf3 -s --forceflush -p 5301"), limit_s=60)
    deadline = time.monotonic() + 10
    while "listening" not in server.output() and time.monotonic() < deadline:
        time.sleep(0.05)
    sent = json.loads(hosts.h1.run(typed("iperf3 -J -u -b 20M -t 1 -p 5301 -c 10.71.0.3")).text)
    assert sent["end"]["sum"]["packets"] > 1000
    owners = hosts.h3.run(typed("ps -C iperf3 -o user=")).text.split()
    assert owners == ["root"]
    assert [left.command for left in leftovers(hosts.h3, "dead-7")]
    assert "iperf3" in " ".join(left.command for left in sweep(hosts.h3, "dead-7"))
    server.close()
    assert leftovers(hosts.h3, "dead-7") == ()
    assert hosts.h3.run(typed("ps -C iperf3 -o user=")).text == ""


def test_a_suite_is_as_with_root(lab: SimpleNamespace, tmp_path: Path) -> None:
    suite = str(ROOT / "suites" / "test_classification.py")
    words = [sys.executable, "-m", "pytest", suite, "--testbed", str(lab.file), "-q"]
    ran = subprocess.run(
        [*words, "--idle-s", "1", "--run-dir", str(tmp_path / "run")],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=os.environ | {"LABTESTS_STATE_DIR": str(tmp_path / "state")},
        timeout=120,
        check=False,
    )
    assert "PASS          All 64 DSCPs" in ran.stdout, ran.stdout + ran.stderr
    assert "lab restored: " in ran.stdout
    assert ran.returncode == 0


def test_a_host_whose_sudo_refuses_is_named_by_the_check_and_missing_in_the_snapshot(
    lab: SimpleNamespace, tmp_path: Path
) -> None:
    change_sudoers(lab.up, "h2", "Defaults requiretty", *SUDOERS)
    try:
        with opened(Access(testbed=lab.testbed)) as usable, pytest.raises(LabErrors) as caught:
            expect_usable(usable)
        said: list[str] = []
        take(lab.testbed, out=tmp_path / "state.json", dry_run=False, say=said.append)
    finally:
        change_sudoers(lab.up, "h2", *SUDOERS)
    [error] = caught.value.exceptions
    assert str(error).startswith("h2: 'sudo -n true': sudo: sorry, you must have a tty")
    assert "!requiretty" in str(error)
    assert "4 devices (1 of them not readable), 5 ports" in said[0]
