"""Values of every setting, damaged, through every driver's commands: each is refused, or becomes
commands of which a real shell runs the intended program and nothing else."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_fuzzed_files import damaged, places

from labtests.capabilities.settings import SETTINGS, kind_of
from labtests.core.errors import LabError
from labtests.drivers.comware.session import WORD
from labtests.inventory import Endpoint
from labtests.journal.values import pack, unpack
from labtests.lab.lab import Lab
from labtests.transport.commands import Shell

sys.path.insert(0, str(Path(__file__).parents[1] / "snapshot"))

from snapshot_lab import open_bench

ROOT = Path(__file__).parents[2]
EXAMPLES = int(os.environ.get("LABTESTS_FUZZ", "40"))
INTENDED = ("ip", "tc", "ethtool", "mlnx_qos", "sysctl", "sudo", "tee")

Known = list[tuple[Lab, Endpoint, str, object]]


@st.composite
def other(draw: st.DrawFn, tree: Any) -> Any:
    """A copy in which one number or word is another small one."""
    changed = deepcopy(tree)
    leaves = [way for way in places(changed) if isinstance(_at(changed, way), int | str)]
    if leaves:
        *way, last = draw(st.sampled_from(leaves))
        around = _at(changed, way)
        words = st.sampled_from(("on", "off", "auto", "dscp", "pcp", "strict", "x y", "a;b"))
        around[last] = draw(words if isinstance(around[last], str) else st.integers(0, 9))
    return changed


def _at(tree: Any, way: Sequence[Any]) -> Any:
    for key in way:
        tree = tree[key]
    return tree


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Known]:
    """Every setting of one port of each device, with its value."""
    with ExitStack() as stack:
        found: Known = []
        for name in ("h3c-s6550-cx4", "linux-lab"):
            folder = tmp_path_factory.mktemp(name)
            bench = stack.enter_context(open_bench(folder, ROOT / "testbeds" / f"{name}.yaml"))
            for device in bench.testbed.devices:
                at = Endpoint(device=device.name, interface=device.ports[0].interface)
                for want in SETTINGS:
                    try:
                        kind = kind_of(want)
                        found.append((bench.lab, at, want, bench.lab.current(at, kind)))
                    except LabError:
                        continue
        yield found


def test_a_value_becomes_the_intended_commands_or_none(known: Known, tmp_path: Path) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in INTENDED:
        (programs / name).write_text("#!/bin/sh\nexit 0\n")
        (programs / name).chmod(0o755)
    empty = tmp_path / "here"
    empty.mkdir()
    made: set[str] = set()

    @settings(
        derandomize=EXAMPLES == 40,
        max_examples=5 * EXAMPLES,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(data=st.data())
    def fuzzed(data: st.DataObject) -> None:
        lab, at, setting, earlier = known[data.draw(st.integers(0, len(known) - 1))]
        whole = {"value": pack(earlier)}
        wanted: Any = data.draw(damaged(whole) if data.draw(st.booleans()) else other(whole))
        try:
            how = lab.setting(at, kind_of(setting))
            step = lab._step(how, at, earlier, unpack(wanted["value"]))
            made_of = lab.ask(at.device, step)
        except (LabError, KeyError):
            return
        commands = () if made_of is None else made_of.commands
        for line in commands:
            assert isinstance(line, Shell) or all(map(WORD.fullmatch, line.split(" ")))
        texts = [
            text for each in commands if isinstance(each, Shell) for text in (each, each.by_sudo)
        ]
        subprocess.run(
            ["/bin/sh", "-c", "\n".join(texts)],
            cwd=empty,
            env={"PATH": f"{programs}:/usr/bin:/bin"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=20,
            check=False,
        )
        made.update(f"{at.device} {setting}" for _ in commands[:1])
        assert [entry.name for entry in empty.iterdir()] == []

    fuzzed()
    assert len(made) >= 5  # not everything is refused
