"""Every reading method of every driver, over answers in which anything stands in any place: a
value, or an error of the device with a sentence. LABTESTS_FUZZ=2000 tries more."""

import inspect
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from driven import driving
from hostile import TERMINAL
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from in_process import InProcessLab

from labtests.core.errors import LabError
from labtests.drivers import driver_module
from labtests.inventory import Device, load
from labtests.transport.protocol import DEFAULT_TIMEOUT_S, Process, Reply, Transport
from labtests.transport.ssh.connecting import connect

ROOT = Path(__file__).parents[2]
EXAMPLES = int(os.environ.get("LABTESTS_FUZZ", "120"))

TOLD = {
    "h3c-s6550-cx4.yaml": ("ServerA", "S6550"),
    "linux-lab.yaml": ("h1", "sw"),
}
"""A device of every platform."""

STRANGE = (
    *TERMINAL,
    "",
    "-1",
    "9" * 5000,
    "1e999",
    "NaN",
    "\ud800",
    "٣",
    "²",
    "[" * 3000,
    '{"a": ' * 3000,
    "null",
    "[]",
    "{}",
    "[null]",
    "[[]]",
    '[{"a": 1}]',
    "\n\n\n",
    " " * 3000,
    "N/A",
)


class Told:
    """A device that gives each question the answer that it gave once, but for one change."""

    def __init__(self, device: str, answers: Mapping[str, Reply]) -> None:
        self.device, self.answers = device, answers
        self.at, self.length, self.text = 0.0, 0, ""
        self.whole = False

    def run(self, command: str, *, timeout_s: float = DEFAULT_TIMEOUT_S) -> Reply:
        known = self.answers.get(command)
        if known is None:
            return Reply(device=self.device, command=command, text=self.text, status=0)
        at = int(self.at * len(known.text))
        text = known.text[:at] + self.text + known.text[at + self.length :]
        text = self.text if self.whole else text
        return Reply(
            device=self.device, command=command, text=text, status=known.status, errors=known.errors
        )

    def configure(self, commands: tuple[str, ...]) -> Reply:
        """A view is entered and left, by which a role shows; nothing is changed."""
        assert [line.partition(" ")[0] for line in commands] == ["interface", "quit"], commands
        return Reply(device=self.device, command=";".join(commands), text=self.text, status=None)

    def start(self, command: str, *, limit_s: float) -> Process:
        raise AssertionError("reading starts nothing")

    def close(self) -> None: ...


class Noting:
    """The real session, and what it was asked."""

    def __init__(self, inner: Transport) -> None:
        self.device, self._inner = inner.device, inner
        self.answers: dict[str, Reply] = {}

    def run(self, command: str, *, timeout_s: float = DEFAULT_TIMEOUT_S) -> Reply:
        reply = self._inner.run(command, timeout_s=timeout_s)
        self.answers[command] = reply
        return reply

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def readings(driver: Any, port: str) -> Iterator[Callable[[], Any]]:
    """Everything that asks of this port, or of nothing: settings, what is around them, parts."""
    for setting in driver.driver.settings:
        yield partial(_read, driver, setting, port)
    for part in driver.driver.parts:
        for name, method in inspect.getmembers(part, callable):
            if name.startswith("_"):
                continue
            with suppress(ValueError, TypeError):
                needed = [
                    each.name
                    for each in inspect.signature(method).parameters.values()
                    if each.default is each.empty and each.kind is each.POSITIONAL_OR_KEYWORD
                ]
                given = {"port": port, "ports": (port,)}
                if len(needed) <= 1 and set(needed) <= set(given):
                    words = [given[each] for each in needed]
                    yield lambda method=method, words=words: driver._told(method(*words))


def _read(driver: Any, setting: Any, port: str) -> Any:
    value = driver.ask(setting.read(port))
    around = driver.ask(setting.around(port, (value, value)))
    return setting.commands(port, value, value, around)


@pytest.fixture(scope="module")
def told() -> list[tuple[Device, Noting]]:
    found = []
    for file, names in TOLD.items():
        testbed = load(ROOT / "testbeds" / file)
        with InProcessLab(testbed, seed=1) as lab:
            found += [told_by(lab.reroute(testbed).device(name), lab) for name in names]
    return found


def told_by(device: Device, lab: InProcessLab) -> tuple[Device, Noting]:
    """Everything that its driver reads."""
    module = driver_module(device.platform)
    noting = Noting(connect(device, module.SESSION, clock=lab.clock))
    for reading in readings(driving(module)(noting), device.ports[0].interface):
        with suppress(LabError):
            reading()
    noting.close()
    return device, noting


def test_every_answer_is_read_or_refused_with_a_sentence(
    told: list[tuple[Device, Noting]],
) -> None:
    asked = 0

    @settings(max_examples=EXAMPLES, database=None, suppress_health_check=list(HealthCheck))
    @given(
        st.sampled_from(range(4)),
        st.floats(0, 1),
        st.integers(0, 40),
        st.sampled_from(STRANGE) | st.text(max_size=20),
        st.booleans(),
    )
    def fuzzed(which: int, at: float, length: int, text: str, whole: bool) -> None:
        nonlocal asked
        device, noting = told[which]
        changed = Told(device.name, noting.answers)
        changed.at, changed.length, changed.text, changed.whole = at, length, text, whole
        for reading in readings(driving(device.platform)(changed), device.ports[0].interface):
            with suppress(LabError):
                reading()
            asked += 1

    fuzzed()
    assert asked > 20 * EXAMPLES / 4  # there is something to read
