"""Traffic pools of the emulated Onyx switch: what is typed, shown, refused, and done to packets."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from labtests.network import GroupMemory, SwitchMemory
from labtests.simlab.lab import SimulatedLab
from labtests.simlab.switch_cli import CliSession

TRANSCRIPTS = Path(__file__).parents[1] / "transcripts" / "onyx"
CABLED = tuple(f"Eth1/{n}" for n in range(1, 4))
ROCE = (
    "traffic pool roce type lossless",
    "traffic pool roce memory percent 50.0",
    "traffic pool roce map switch-priority 5",
)
Typing = Callable[..., str]


@pytest.fixture
def typed(typed: Typing) -> Typing:
    """In the configuration mode."""
    typed("enable", "configure terminal")
    return typed


def recorded(name: str) -> str:
    return (TRANSCRIPTS / name).read_text(encoding="utf-8").split("\n", 2)[2]


def pools(typed: Typing) -> list[str]:
    return [text.strip() for text in typed("show run | include pool").splitlines()]


def test_lines_are_shown_as_published_and_nothing_beside_them(typed: Typing) -> None:
    assert typed(*reversed(ROCE)) == ""
    asked = typed("show running-config | include pool|prefix-modes")
    assert asked == recorded("pools.published.txt")
    whole = typed("show running-config")
    assert f"##\n## Interface Ethernet buffer configuration\n##\n   {ROCE[0]}\n" in whole


def test_a_pool_is_shown_in_the_recorded_form(typed: Typing) -> None:
    typed(*ROCE)
    shown, found = (
        json.loads(text)
        for text in (typed("show traffic pool roce | json-print"), recorded("qos.pools.txt"))
    )
    (pool,), (of_recording,) = shown.pop("roce"), found.pop("roce")
    assert (list(pool), shown) == (list(of_recording), found)
    assert [pool[name] for name in ("Type", "Switch Priorities", "Memory [%]", "Usage")] == [
        "lossless", "5", "50.00", "0"
    ]  # fmt: skip
    assert typed("show traffic pool other | json-print").startswith("% ")


@pytest.mark.parametrize(
    ("lines", "shown"),
    [
        (("traffic pool a",), ["a type lossy"]),
        (("traffic pool a force", "traffic pool a type lossy-mc"), ["a type lossy-mc"]),
        (("traffic pool a type lossless", "traffic pool a"), ["a type lossless"]),
        (
            ("traffic pool b map switch-priority 2 3 1 7", "traffic pool a memory percent 7"),
            ["a memory percent 7.00", *(f"b map switch-priority {n}" for n in (1, 2, 3, 7))],
        ),
        (("traffic pool a memory percent 7", "traffic pool a memory percent 100"),
         ["a memory percent 100.00"]),
        (("traffic pool a type lossy", "no traffic pool a"), []),
        (("traffic pool a type lossy", "traffic pool ab type lossy", "no traffic pool a force"),
         ["ab type lossy"]),
    ],
)  # fmt: skip
def test_what_is_typed_is_kept(typed: Typing, lines: tuple[str, ...], shown: list[str]) -> None:
    assert typed(*lines) == ""
    assert pools(typed) == [f"traffic pool {each}" for each in shown]


@pytest.mark.parametrize(
    "line",
    [
        "traffic pool roce type frobnicated",
        "traffic pool roce memory percent 0",
        "traffic pool roce memory percent 100.1",
        "traffic pool roce memory percent fifty",
        "traffic pool roce map switch-priority 8",
        "traffic pool roce map switch-priority 3,4",
        "traffic pool roce map switch-priority",
        f"traffic pool {'n' * 21}",
        "traffic pool other memory percent 50.01",
        "traffic pool other map switch-priority 4 5",
        "no traffic pool other",
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_changed(typed: Typing, line: str) -> None:
    typed(*ROCE)
    before = pools(typed)
    assert typed(line).startswith("% ")
    assert pools(typed) == before


def test_priorities_of_a_lossless_pool_are_lossless_with_its_share_of_the_memory(
    lab: SimulatedLab, typed: Typing, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = lab.network.switch("SN2700")
    told: dict[tuple[str, int], float | None] = {}

    def thresholds(port: str, priority: int, own: GroupMemory) -> None:
        told[port, priority] = own.alpha

    monkeypatch.setattr(network, "set_thresholds", thresholds)
    on = "interface ethernet 1/1 dcb priority-flow-control mode on force"
    typed("dcb priority-flow-control priority 3 enable", on)
    typed(*ROCE[1:])
    assert network.pfc("Eth1/2")[0] == "off"  # lossy
    typed(ROCE[0])
    assert network.pfc("Eth1/1") == ("on", frozenset({3, 5}))
    assert network.pfc("Eth1/2") == ("on", frozenset({5}))
    assert told == dict.fromkeys(((port, 5) for port in CABLED), SwitchMemory().alpha / 2)
    typed("no dcb priority-flow-control enable force")
    assert network.pfc("Eth1/2") == ("on", frozenset({5}))
    typed("no traffic pool roce")
    assert [network.pfc(port)[0] for port in CABLED] == ["off"] * len(CABLED)
    assert set(told.values()) == {None}


def test_a_start_again_brings_what_was_written_and_no_more(
    session: CliSession, typed: Typing
) -> None:
    typed(*ROCE, "configuration write", "traffic pool roce memory percent 10", "traffic pool more")
    assert len(pools(typed)) == 4
    session.switch.load_saved()
    assert pools(typed) == ["traffic pool roce type lossless",
                            "traffic pool roce memory percent 50.00", ROCE[2]]  # fmt: skip


def test_nobody_below_the_configuration_mode_makes_a_pool(session: CliSession) -> None:
    assert session.run(ROCE[0]).startswith('% Unrecognized command "traffic"')
    session.run("enable")
    assert session.run("no traffic pool roce").startswith("% ")
