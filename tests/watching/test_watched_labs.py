"""Labs that stream while somebody looks on: served ones, simulated ones, and a run that exports."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest

ROOT = Path(__file__).parents[2]
STREAMS = ROOT / "testbeds" / "streams"
WITHIN_S = 120
FLOW = {"kind": "background", "device": "ServerA", "tos": 96, "mbit_per_s": 400}


def labtests(folder: Path, *words: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "labtests", *words],
        cwd=folder, env=_environment(folder) | environment, capture_output=True, text=True,
        timeout=WITHIN_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def _environment(folder: Path) -> dict[str, str]:
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("LABTESTS_", "PYTEST_"))}
    return clean | {"PYTHONPATH": str(ROOT), "XDG_STATE_HOME": str(folder / "state")}


@pytest.mark.parametrize(
    ("name", "device", "to"),
    [
        ("h3c-s6550-cx4", "S6550", "192.168.10.12"),
        ("nexus-cx5", "N9K", "192.168.20.12"),
        ("sonic-cx5", "SN2700", "192.168.20.12"),
    ],
)
def test_each_platform_tells_the_rate_of_what_flows(name, device, to, tmp_path):
    flow = json.dumps(FLOW | {"to": to})
    shown = labtests(
        tmp_path, "watch", "--testbed", str(STREAMS / f"{name}.yaml"), "--dry-run",
        "--seconds", "6", "--fault", flow,
    )  # fmt: skip
    (row,) = [line for line in shown.splitlines() if f"{device}:" in line]
    assert 0.40 <= float(row.split("│")[3]) <= 0.44  # with headers, and on Comware with gaps


@pytest.mark.parametrize(("name", "told"), [("h3c-s6550-cx4", ""), ("sonic-cx5", "gNMI")])
def test_a_served_lab_is_watched_by_the_file_that_it_writes(name, told, tmp_path):
    live, log = tmp_path / "live.yaml", tmp_path / "log"
    serve = [sys.executable, "-m", "labtests", "simlab", "serve", str(STREAMS / f"{name}.yaml")]
    with (
        log.open("w") as out,
        subprocess.Popen(
            [*serve, "--write", str(live)], cwd=tmp_path, env=_environment(tmp_path), stdout=out
        ) as serving,
    ):
        try:
            deadline = time.monotonic() + WITHIN_S
            while "Ctrl-C ends it" not in log.read_text():
                assert time.monotonic() < deadline, log.read_text()
                assert serving.poll() is None, log.read_text()
                time.sleep(0.1)
            password = dict(re.findall(r"export (\w+)=(\S+)", log.read_text()))
            assert told in log.read_text()
            assert bool(told) == bool(password)
            shown = labtests(
                tmp_path, "watch", "--testbed", str(live), "--seconds", "4", "--all", **password
            )
        finally:
            serving.send_signal(signal.SIGINT)
            serving.wait(30)
    samples = re.search(r"(\d+) samples, 0 alarms, (\d+) troubles", shown)
    assert samples is not None, shown
    assert int(samples[1]) > 100
    assert samples[2] == "1", shown  # the lab's calendar is another one
    assert "its clock is off" in shown


def test_a_run_is_exported_while_it_runs(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    run = [
        *(sys.executable, "-m", "pytest", "-p", "no:cacheprovider"),
        *("suites/test_s1_pfc.py", "--testbed", str(STREAMS / "nexus-cx5.yaml"), "--dry-run"),
        *("--run-dir", str(tmp_path / "run"), "--stream-influx", str(tmp_path / "run.influx")),
        *("--stream-metrics", str(port)),
    ]
    scraped: list[str] = []
    with (
        (tmp_path / "log").open("w") as out,
        subprocess.Popen(run, cwd=ROOT, env=_environment(tmp_path), stdout=out) as running,
    ):
        deadline = time.monotonic() + WITHIN_S
        while running.poll() is None and time.monotonic() < deadline:
            try:
                with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
                    scraped.append(answer.read().decode())
            except (URLError, ConnectionError):
                pass  # not yet, or no longer
            time.sleep(0.2)
        running.kill()
    assert running.returncode == 0, (tmp_path / "log").read_text()
    counted = [
        int(float(found[1]))
        for text in scraped
        if (found := re.search(r'labtests_streamed_samples\{lab="[^"]+"\} (\S+)', text))
    ]
    assert counted == sorted(counted)
    assert len({*counted, 0}) > 3  # it was scraped while it grew
    where = r'device="N9K",lab="streams-nexus-cx5",port="Ethernet1/13",priority="3"'
    queue = rf"labtests_stream_forwarded_bytes\{{{where}\}} (\S+)"
    assert max(float(each) for text in scraped for each in re.findall(queue, text)) > 1e9
    lines = (tmp_path / "run.influx").read_text().splitlines()
    assert len(lines) >= max(counted)
    form = re.compile(
        r"labtests_stream,lab=streams-nexus-cx5,device=N9K,port=Ethernet1/\d+(,priority=\d)? "
        r"\w+=\d+i \d{19}|labtests_(alarm|trouble),.*"
    )
    assert all(form.fullmatch(line) for line in lines)
