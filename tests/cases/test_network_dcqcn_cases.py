"""What a case file says about DCQCN, priority by priority."""

from pathlib import Path

import pytest
from small_case import SMALL, case

from labtests.core.errors import InventoryError
from labtests.network.cases import run
from labtests.network.cases.building import build

MARKED = SMALL.replace("duration_ms: 2", "duration_ms: 1").replace(
    "switch: {pfc: [3]}",
    "switch: {pfc: [3], ecn: [{queues: [3, 5], low_bytes: 0, high_bytes: 9000, probability: 1}]}",
)


def with_dcqcn(dcqcn: str) -> str:
    return MARKED.replace("nic: {pfc: [3]}", f"nic: {{pfc: [3], dcqcn: {dcqcn}}}")


@pytest.mark.parametrize("form", ["connectx", "timers", "paper"])
def test_only_the_priorities_said_obey_or_are_answered(tmp_path: Path, form: str) -> None:
    text = with_dcqcn(f"{{form: {form}, rp_priorities: [3]}}")
    hosts = {host.host: host for host in run(case(tmp_path, text)).hosts}
    assert hosts["a"].cnp_handled > 0 == hosts["a"].cnp_ignored
    assert hosts["b"].cnp_ignored > 0 == hosts["b"].cnp_handled
    text = with_dcqcn(f"{{form: {form}, np_priorities: [5]}}")
    hosts = {host.host: host for host in run(case(tmp_path, text)).hosts}
    assert hosts["c"].cnp_sent > 0
    assert hosts["a"].cnp_handled == hosts["a"].cnp_ignored == 0
    assert hosts["b"].cnp_handled > 0


def test_form_off_answers_and_does_not_obey_and_none_does_neither(tmp_path: Path) -> None:
    nic = build(case(tmp_path, with_dcqcn("{form: 'off'}"))).nic("a", "e0")
    assert (nic.rp_enabled, nic.np_enabled) == (frozenset(), frozenset(range(8)))
    nic = build(case(tmp_path, with_dcqcn("{form: 'off', np_priorities: [3]}"))).nic("a", "e0")
    assert (nic.rp_enabled, nic.np_enabled) == (frozenset(), frozenset({3}))
    nic = build(case(tmp_path, MARKED)).nic("a", "e0")
    assert nic.rp_enabled == nic.np_enabled == frozenset()


def test_cnps_have_a_dscp_of_their_own(tmp_path: Path) -> None:
    text = with_dcqcn("{form: timers, cnp_priority: 6, cnp_dscp: 8}") + (
        "sampling: {queues: [{switch: s, port: a, queue: 1}, {switch: s, port: a, queue: 6}]}\n"
    )
    by_dscp, by_priority = run(case(tmp_path, text)).queues
    assert by_dscp.forwarded_packets > 0 == by_priority.forwarded_packets


def test_a_list_without_effect_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(InventoryError) as error:
        case(tmp_path, with_dcqcn("{form: 'off', rp_priorities: [3]}"))
    assert "dcqcn.rp_priorities: form off obeys none" in str(error.value)
