"""Each number of the reaction point does what its text says, in all three forms."""

from collections.abc import Mapping
from dataclasses import fields

import pytest
from network_star import Lab, Star

from labtests.network import (
    ReactionPoint,
)
from labtests.network.congestion import handle_cnp


def delivered(star: Lab, settings: Mapping[str, int], cnps_us: tuple[int, ...]) -> int:
    """What a lone 10G flow delivers in 2 ms in which CNPs come at these times."""
    lab = star(2)
    for name, value in settings.items():
        lab.nic(1).set_dcqcn("roce_rp", name, value)
    return delivered_by(lab, cnps_us)


def delivered_by(lab: Star, cnps_us: tuple[int, ...]) -> int:
    flow = lab.rc(1, 3)
    lab.run_ms(1)
    before, start_ns = flow.delivered_bytes, lab.network.now_ns
    for after_us in cnps_us:
        lab.network.advance_to(start_ns + after_us * 1000)
        handle_cnp(lab.network.state, 0)
    lab.network.advance_to(start_ns + 2_000_000)
    return flow.delivered_bytes - before


HOLD = {"rpg_time_reset": 10_000}  # no increase by time while looking at cuts
CLAMPED = {"clamp_tgt_rate": 1}
MORE, LESS = 1, -1
REACTION = (
    # parameter, other value, what else is set, when CNPs come (us), what the other value does
    ("clamp_tgt_rate", 1, {}, (0, 10), LESS),  # recovery ends at the lower rate
    ("clamp_tgt_rate_after_time_inc", 0, {}, (0, 310), MORE),  # the target stays
    ("rpg_time_reset", 100, {}, (0,), MORE),
    ("rpg_byte_reset", 100, {}, (0,), MORE),
    ("rpg_byte_reset", 0, {"rpg_byte_reset": 100}, (0,), LESS),  # 0: no byte counter
    ("rpg_threshold", 30, {**CLAMPED, "rpg_ai_rate": 1000}, (0, 10, 20), LESS),
    ("rpg_max_rate", 6000, HOLD, (0,), LESS),
    ("rpg_ai_rate", 1000, CLAMPED, (0, 10, 20), MORE),
    ("rpg_hai_rate", 2000, {**CLAMPED, "rpg_byte_reset": 50}, (0, 10, 20), MORE),
    ("rpg_gd", 13, HOLD, (0,), MORE),  # cut by alpha / 8
    ("rpg_min_dec_fac", 90, HOLD, (0,), MORE),
    ("rpg_min_rate", 4000, HOLD, (0, 10, 20), MORE),
    ("rate_to_set_on_first_cnp", 2000, HOLD, (0,), LESS),
    ("dce_tcp_g", 900, HOLD, (0, 100), MORE),  # alpha forgets sooner: a smaller second cut
    ("dce_tcp_rtt", 100, HOLD, (0, 100), LESS),  # alpha forgets later
    ("rate_reduce_monitor_period", 200, HOLD, (0, 100), MORE),  # the second CNP cuts nothing
    ("initial_alpha_value", 100, HOLD, (0,), MORE),
)


@pytest.mark.parametrize("row", REACTION, ids=[f"{row[0]}-{row[1]}" for row in REACTION])
def test_every_reaction_point_parameter_does_what_its_text_says(
    star: Lab, row: tuple[str, int, Mapping[str, int], tuple[int, ...], int]
) -> None:
    name, other, given, cnps_us, direction = row
    usual = delivered(star, given, cnps_us)
    changed = delivered(star, {**given, name: other}, cnps_us)
    assert direction * (changed - usual) > 0.02 * usual


THRICE = (0, 60, 120)
POINTS = (
    # form, parameter, other value, what else is set, when CNPs come (us), what the other value does
    ("timers", "gain", 1 / 4, {}, (0, 500), MORE),  # alpha forgets sooner
    ("paper", "gain", 1 / 4, {}, (0, 500), MORE),
    ("timers", "alpha_period_us", 500.0, {"gain": 1 / 4}, (0, 500), LESS),
    ("paper", "alpha_period_us", 500.0, {"gain": 1 / 4}, (0, 500), LESS),
    ("timers", "cut_period_us", 500.0, {}, THRICE, MORE),  # the paper's cuts at each CNP
    ("timers", "increase_period_us", 500.0, {}, (0,), LESS),
    ("paper", "increase_period_us", 500.0, {}, (0,), LESS),
    ("paper", "byte_counter_bytes", 100_000, {"increase_period_us": 1e4}, (0,), MORE),
    ("paper", "byte_counter_bytes", 0, {"byte_counter_bytes": 50_000}, (0,), LESS),
    ("timers", "recovery_stages", 1, {"additive_bits_per_s": 1e9}, THRICE, MORE),
    ("paper", "recovery_stages", 1, {"additive_bits_per_s": 1e9}, THRICE, MORE),
    ("timers", "additive_bits_per_s", 4e9, {}, THRICE, MORE),
    ("paper", "additive_bits_per_s", 1e9, {}, THRICE, MORE),
    ("timers", "hyper_bits_per_s", 1e9, {}, THRICE, MORE),
    ("paper", "hyper_bits_per_s", 1e6, {"byte_counter_bytes": 20_000}, THRICE, LESS),
    ("timers", "min_rate_bits_per_s", 4e9, {}, THRICE, MORE),
    ("paper", "min_rate_bits_per_s", 4e9, {}, THRICE, MORE),
    ("timers", "clamp_target", False, {"increase_period_us": 300.0}, THRICE, MORE),
    ("paper", "clamp_target", False, {"increase_period_us": 300.0}, THRICE, MORE),
)


@pytest.mark.parametrize("row", POINTS, ids=[f"{row[0]}-{row[1]}-{row[2]}" for row in POINTS])
def test_every_number_of_the_other_two_forms_does_what_its_text_says(
    star: Lab, row: tuple[str, str, float, Mapping[str, float], tuple[int, ...], int]
) -> None:
    form, name, other, given, cnps_us, direction = row
    amounts = []
    for values in (given, {**given, name: other}):
        lab = star(2)
        lab.nic(1).set_reaction_point(ReactionPoint(form=form, **values))  # type: ignore[arg-type]
        amounts.append(delivered_by(lab, cnps_us))
    assert direction * (amounts[1] - amounts[0]) > 0.005 * amounts[0]


def test_the_table_of_forms_has_every_number() -> None:
    names = {field.name for field in fields(ReactionPoint)}
    assert {row[1] for row in POINTS} == names - {"form"}


def test_the_table_has_every_parameter(star: Lab) -> None:
    assert {row[0] for row in REACTION} == set(star().nic(1).dcqcn_rp)
