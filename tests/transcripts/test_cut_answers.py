"""An answer that ends early is refused, or says a part of the same; never something else.

Every recording of a device is cut at five places chosen by chance (the same in every run), and at
the end of every line.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "connectx"))
sys.path.insert(0, str(Path(__file__).parents[1] / "comware"))
sys.path.insert(0, str(Path(__file__).parents[1] / "linux_switch"))
sys.path.insert(0, str(Path(__file__).parents[1] / "displays"))
sys.path.insert(0, str(Path(__file__).parents[1] / "nxos"))
sys.path.insert(0, str(Path(__file__).parents[1] / "sonic"))
sys.path.insert(0, str(Path(__file__).parents[1] / "cumulus"))
sys.path.insert(0, str(Path(__file__).parents[1] / "onyx"))

import connectx_host
import cumulus_recordings as cumulus
import nxos_recordings as nexus
import onyx_recordings as onyx
import other_switches
import recordings as comware
import sonic_recordings as sonic
import switch_box
import test_connectx_recordings as hosts
from platform_recordings import part_of

from labtests.core.errors import DeviceError
from labtests.drivers.linux_switch import classes, filters, offloads, qdiscs
from labtests.transport.protocol import Reply

OF_A_SWITCH = {
    "qdiscs": qdiscs.parse_qdiscs,
    "classes": classes.parse_classes,
    "filters": filters.parse_filters,
    "features": offloads.parse_merging,
}
CUTS = 5
PLATFORMS: dict[str, Any] = {
    "": comware.ALL,
    "n9k-": nexus.ALL,
    "sonic-": sonic.ALL,
    "cumulus-": cumulus.ALL,
    "onyx-": onyx.ALL,
}


@dataclass(frozen=True)
class Recorded:
    """A recorded answer, and what reads it."""

    reply: Reply
    read: Callable[[Reply], Any]

    def at(self, end: int) -> Any:
        """What is read of its first characters; None when that is refused."""
        try:
            return self.read(replace(self.reply, text=self.reply.text[:end]))
        except DeviceError:
            return None


def all_recorded() -> Iterator[Any]:
    for name in hosts.NAMES:
        reply = connectx_host.recording(name)
        yield pytest.param(Recorded(reply, lambda r, name=name: hosts.read(name, r)), id=name)
    for platform, of in PLATFORMS.items():
        for path in of.recordings:
            recorded = Recorded(of.load(path), of.parser_of(path))
            yield pytest.param(recorded, id=f"{platform}{path.stem}")
    for path in sorted(switch_box.TRANSCRIPTS.glob("*--*.txt")):
        read = OF_A_SWITCH.get(path.stem.split("--")[0])
        if read is not None:
            yield pytest.param(Recorded(switch_box.recording(path.stem), read), id=path.stem)
    for name, read in other_switches.READERS.items():
        text = (Path(__file__).parent / f"{name}.txt").read_text(encoding="utf-8")
        command, _, shown = text.split("\n", 2)
        yield pytest.param(
            Recorded(Reply(device="switch", command=command, text=shown), read), id=name
        )


RECORDED = list(all_recorded())


@pytest.mark.parametrize("recorded", RECORDED)
def test_an_answer_cut_inside_a_line_is_refused(recorded, request):
    text, chance = recorded.reply.text, Random(request.node.callspec.id)
    inside = [end for end in range(1, len(text)) if text[end - 1] != "\n" and text[end:].strip()]
    for end in chance.sample(inside, min(CUTS, len(inside))):
        assert recorded.at(end) is None, f"cut after {text[:end][-40:]!r}"


@pytest.mark.parametrize("recorded", RECORDED)
def test_of_an_answer_cut_between_lines_a_part_is_read_or_nothing(recorded):
    text = recorded.reply.text
    whole = recorded.at(len(text))
    if whole is None:  # refused as it stands
        return
    for end in (n + 1 for n, character in enumerate(text) if character == "\n"):
        some = recorded.at(end)
        assert part_of(some, whole), f"cut after {text[:end][-60:]!r}: {some}, not {whole}"


def test_the_comparison_tells_another_value_from_a_part():
    assert part_of({"a": 1}, {"a": 1, "b": 2})
    assert part_of((("x", None),), (("x", 7), ("y", 8)))
    assert not part_of({"a": 9}, {"a": 99})
    assert not part_of(({"a": 9},), ({"a": 99},))
    assert not part_of({"c": 1}, {"a": 1})
    assert not part_of(0, 7)
    assert not part_of(frozenset({3}), frozenset({4}))
