"""What is not given fits what is: headroom the frames, cables and response times; xon the xoff; and
a case whose figures hang on a phase says so."""

from pathlib import Path

import pytest
from small_case import SMALL, case

from labtests.core.errors import InventoryError
from labtests.core.headroom import headroom_for
from labtests.network.cases import CaseFile, load, run
from labtests.network.cases.building import build, memories

DOCS = Path(__file__).parents[2] / "docs"


def both_ways(mtu: int, gigabit: float, metres: float, cell: int, response_ns: int) -> CaseFile:
    """Three hosts, each sends to the two others: PFC frames wait behind data."""
    names = ("a", "b", "c")
    pairs = [(one, other) for one in names for other in names if one != other]
    return CaseFile.model_validate(
        {
            "name": "both-ways",
            "duration_ms": 200 / gigabit,
            "hosts": dict.fromkeys(names),
            "switches": {"s": None},
            "nic": {"pfc": [3], "pause": {"response_ns": float(response_ns)}},
            "switch": {
                "pfc": [3],
                "memory": {
                    "cell_bytes": cell,
                    "xon_offset_bytes": 6_000,
                    "total_bytes": 2_000_000 if metres < 1000 else 32_000_000,
                },
            },
            "links": [
                {"between": [n, "s"], "rate_gbit_per_s": gigabit, "length_m": metres} for n in names
            ],
            "flows": [
                {"source": a, "target": b, "mtu_bytes": mtu, "start_us": 0.1 * n}
                for n, (a, b) in enumerate([*pairs, ("a", "c"), ("b", "c")])
            ],
        }
    )


@pytest.mark.parametrize("mtu", [1024, 4096])
@pytest.mark.parametrize("gigabit", [1.0, 10.0, 100.0])
@pytest.mark.parametrize("metres", [3.0, 100.0, 10_000.0])
@pytest.mark.parametrize(("cell", "response_ns"), [(208, 0), (1, 0), (208, 20_000)])
def test_a_lossless_default_loses_nothing(
    mtu: int, gigabit: float, metres: float, cell: int, response_ns: int
) -> None:
    figures = run(both_ways(mtu, gigabit, metres, cell, response_ns))
    assert metres > 1000 or any(pause.sent_frames for pause in figures.pauses)
    assert figures.dropped_frames == 0


@pytest.mark.parametrize(("overhead", "metres", "gigabit"), [(0, 1000.0, 100), (8, 3000.0, 400)])
def test_small_frames_close_together_fit_the_default_headroom(
    overhead: int, metres: float, gigabit: float
) -> None:
    """Without preamble and gap more frames of a cell each arrive; nothing leaves."""
    figures = run(stuck(gigabit, metres, overhead))
    assert figures.memory[0].groups[0].peak_headroom_bytes > 200_000
    assert figures.dropped_frames == 0


def stuck(gigabit: float, metres: float, overhead: int) -> CaseFile:
    names = ("a", "b", "c")
    return CaseFile.model_validate(
        {
            "name": "stuck",
            "duration_ms": 0.5,
            "hosts": dict.fromkeys(names),
            "switches": {"s": None},
            "nic": {"pfc": [3]},
            "switch": {"pfc": [3], "memory": {"total_bytes": 10**8, "xoff_bytes": 20_000}},
            "links": [
                {
                    "between": [name, "s"],
                    "rate_gbit_per_s": gigabit,
                    "length_m": metres,
                    "overhead_bytes": overhead,
                }
                for name in names
            ],
            "flows": [
                {"source": name, "target": "c", "message_bytes": 2, "tx_depth": 32768}
                for name in "ab"
            ],
            "storms": [{"device": "c", "priorities": [3]}],
        }
    )


def test_usual_frames_have_the_white_papers_headroom() -> None:
    usual = both_ways(1024, 100.0, 100.0, 208, 0)
    network = build(usual)
    assert set(network.tables.lane.headroom_cells) == {0, headroom_for(10**11, 100)}
    assert memories(usual)["s"].frame_bytes == 1518


STATIC = SMALL.replace("switch: {pfc: [3]}", "switch: {pfc: [3], memory: {xoff_bytes: 50000}}")


def test_a_static_threshold_has_an_offset_below_it(tmp_path: Path) -> None:
    assert memories(case(tmp_path, STATIC))["s"].xon_offset_cells == 25000 // 208
    large = STATIC.replace("50000", "2000000")
    assert memories(case(tmp_path, large))["s"].xon_offset_cells == 2200
    group = STATIC.replace("xoff_bytes: 50000", "groups: [{priorities: [3], xoff_bytes: 50000}]")
    assert memories(case(tmp_path, group))["s"].group(3).xon_offset_cells == 25000 // 208


def test_a_dynamic_threshold_has_an_offset_below_it(tmp_path: Path) -> None:
    small = SMALL.replace("{pfc: [3]}\nlinks", "{pfc: [3], memory: {total_bytes: 1000000}}\nlinks")
    shared = run(case(tmp_path, small)).memory[0].shared_bytes
    half = 0.125 * shared / (1 + 3 * 0.125) / 2
    assert memories(case(tmp_path, small))["s"].xon_offset_cells == half // 208
    own = small.replace("000000}", "000000, groups: [{priorities: [3], alpha: 1.0}]}")
    assert memories(case(tmp_path, own))["s"].group(3).xon_offset_cells == shared / 4 / 2 // 208
    given = small.replace("000000}", "000000, xon_offset_bytes: 300000}")
    assert memories(case(tmp_path, given))["s"].xon_offset_cells == 300_000 // 208
    assert memories(case(tmp_path, SMALL))["s"].xon_offset_cells == 2200


def test_a_line_is_full_with_a_small_memory_and_the_default_offset(tmp_path: Path) -> None:
    text = SMALL.replace("{pfc: [3]}\nlinks", "{pfc: [3], memory: {total_bytes: 1000000}}\nlinks")
    text = text.replace(", priority: 5", "").replace("25, length_m: 5", "100, length_m: 300")
    figures = run(case(tmp_path, text + "warmup_ms: 0.5\nstart_jitter_us: 5\n"))
    assert sum(pause.sent_frames for pause in figures.pauses) > 20
    assert figures.total_goodput_gbit_per_s > 0.99 * 100 * 1024 / 1106


@pytest.mark.parametrize(
    "memory",
    [
        "{xoff_bytes: 50000, xon_offset_bytes: 50001}",
        "{groups: [{priorities: [3], xoff_bytes: 50000, xon_offset_bytes: 60000}]}",
        "{xon_offset_bytes: 60000, groups: [{priorities: [3], xoff_bytes: 50000}]}",
    ],
)
def test_an_offset_above_the_threshold_is_refused(tmp_path: Path, memory: str) -> None:
    text = SMALL.replace("switch: {pfc: [3]}", f"switch: {{pfc: [3], memory: {memory}}}")
    with pytest.raises(InventoryError, match=r"xon_offset_bytes: is above xoff_bytes \(50000\)"):
        case(tmp_path, text)


def test_senders_that_never_leave_their_phase_are_named(tmp_path: Path) -> None:
    (note,) = run(case(tmp_path, SMALL)).notes
    assert note.startswith("2 senders to c (a, b) are equal and unpaced (1086 B frames at 25 Gb")
    for cure in ("random_gap: 0.01", "dcqcn: {form: timers}"):
        cured = SMALL.replace("nic: {pfc: [3]}", f"nic: {{pfc: [3], {cure}}}")
        assert run(case(tmp_path, cured)).notes == ()
    assert run(case(tmp_path, SMALL + "start_jitter_us: 5\n")).notes == ()
    assert run(load(DOCS / "cases" / "incast.yaml")).notes == ()
