"""A small valid testbed, and a way to write where a mistake is expected: the sign § before it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from labtests.core.errors import InventoryError
from labtests.inventory import Testbed, load

PLATFORMS = frozenset({"connectx", "comware"})
SIGN = "§"

VALID = """\
name: lab
defaults: {user: root}
groups:
  servers: {platform: connectx}
devices:
  A: {groups: [servers], management: {host: a}, ports: {eth0: {rdma: mlx5_0, address: 10.0.0.1/24}}}
  B: {groups: [servers], management: {host: b}, ports: {eth0: {address: 10.0.0.2/24}}}
  C: {groups: [servers], management: {host: c}, ports: {eth0: {address: 10.0.0.3/24}, eth1: }}
  S: {platform: comware, management: {host: s}, ports: {P1: {}, P2: {}, P3: {}}}
links:
  - {between: ["A:eth0", "S:P1"], speed_gbit_per_s: 10, length_m: 3}
  - {between: ["B:eth0", "S:P2"], speed_gbit_per_s: 10, length_m: 3}
  - {between: ["C:eth0", "S:P3"], speed_gbit_per_s: 10, length_m: 3}
roles: {senders: [A, B], receiver: "C:eth0"}
"""


@pytest.fixture
def valid() -> str:
    return VALID


@pytest.fixture
def loaded(tmp_path: Path) -> Callable[[str | bytes], Testbed]:
    """Loads a text as a testbed file."""

    def load_text(text: str | bytes) -> Testbed:
        file = tmp_path / "lab.yaml"
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        return load(file, platforms=PLATFORMS)

    return load_text


@pytest.fixture
def mistakes(loaded: Callable[[str | bytes], Testbed]) -> Callable[[str | bytes], list[str]]:
    """Every mistake of a text, without the file's path in front."""

    def mistakes_of(text: str | bytes) -> list[str]:
        with pytest.raises(InventoryError) as caught:
            loaded(text)
        return [line.partition("lab.yaml:")[2] for line in caught.value.mistakes]

    return mistakes_of


@pytest.fixture
def expect(mistakes: Callable[[str | bytes], list[str]]) -> Callable[..., None]:
    """Edits the valid testbed and expects mistakes exactly where the edits carry the sign."""

    def check(edits: dict[str, str], *expected: str) -> None:
        text = VALID
        for old, new in edits.items():
            assert text.count(old) == 1, f"{old!r} is there {text.count(old)} times"
            text = text.replace(old, new)
        positions = []
        while SIGN in text:
            before, _, after = text.partition(SIGN)
            lines = before.split("\n")
            positions.append(f"{len(lines)}:{len(lines[-1]) + 1}")
            text = before + after
        assert mistakes(text) == [
            f"{position}: {problem}" for position, problem in zip(positions, expected, strict=True)
        ]

    return check
