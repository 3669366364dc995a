"""Small labs of network namespaces with a name and addresses of their own, for tests."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from labtests.inventory import LINUX_LAB_FOLDER, Testbed, load


def file_of(folder: Path, number: int, *, section: str = "", name: str = "") -> Path:
    """A testbed of two hosts and a switch; each number has its own name and management network."""
    name = name or f"test-{os.getpid()}-{number}"
    net = f"10.{240 + number}.{os.getpid() % 250}"
    file = folder / f"{name}.yaml"
    file.write_text(
        f"""\
name: {name}
linux_lab: {{runner_address: {net}.254/24{section and ", "}{section}}}
defaults: {{platform: linux}}
devices:
  a: {{management: {{host: {net}.1}}, ports: {{eth1: {{address: 10.70.0.1/24}}}}}}
  b: {{management: {{host: {net}.2, port: 2222}}, ports: {{eth1: {{address: 10.70.0.2/24}}}}}}
  s: {{platform: linux-switch, management: {{host: {net}.3}}, ports: {{p1: {{}}, p2: {{}}}}}}
links:
  - {{between: ["a:eth1", "s:p1"], speed_gbit_per_s: 0.2, length_m: 1}}
  - {{between: ["b:eth1", "s:p2"], speed_gbit_per_s: 0.1, length_m: 1}}
roles: {{senders: [a], receiver: b}}
"""
    )
    return file


def loaded(file: Path) -> Testbed:
    return load(file)


def in_namespace(lab: str, device: str, *words: str) -> str:
    """What a command prints inside a device's network namespace."""
    namespace = f"labtests:{lab}:{device}"
    answer = subprocess.run(
        ["ip", "netns", "exec", namespace, *words], capture_output=True, text=True, check=True
    )
    return answer.stdout


def traces(lab: str) -> list[str]:
    """Everything of a lab that is still there."""
    return [*_namespaces(lab), *_links(lab), *_processes(lab), *_folders(lab)]


def rules() -> str:
    """Of the machine's routing."""
    done = subprocess.run(["ip", "rule"], capture_output=True, text=True, check=True)
    return done.stdout


def _namespaces(lab: str) -> Iterator[str]:
    for entry in Path("/run/netns").glob("*"):
        if entry.name == f"labtests:{lab}" or entry.name.startswith(f"labtests:{lab}:"):
            yield f"namespace {entry.name}"


def _links(lab: str) -> Iterator[str]:
    from labtests.linuxlab.plan import runner_interface

    if (Path("/sys/class/net") / runner_interface(lab)).exists():
        yield f"link {runner_interface(lab)}"


def _processes(lab: str) -> Iterator[str]:
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if f"/{lab}/box." in words:
            yield f"process {entry.name}: {words}"


def _folders(lab: str) -> Iterator[str]:
    if (Path(LINUX_LAB_FOLDER) / lab).exists():
        yield f"folder of {lab}"
