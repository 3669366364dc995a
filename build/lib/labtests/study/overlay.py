"""A profile laid over a case: what the packet network has of what a profile says."""

from typing import Any

from labtests.profile.derived import cell_bytes
from labtests.profile.form import ProfileFile, ReactionPart

REACTION = {
    "clamp_target_rate": "clamp_tgt_rate",
    "increase_timer_us": "rpg_time_reset",
    "recovery_stages": "rpg_threshold",
    "additive_increase_mbit_per_s": "rpg_ai_rate",
    "hyper_increase_mbit_per_s": "rpg_hai_rate",
    "minimum_rate_mbit_per_s": "rpg_min_rate",
    "alpha_kept_1024": "dce_tcp_g",
    "alpha_timer_us": "dce_tcp_rtt",
    "cut_interval_us": "rate_reduce_monitor_period",
    "initial_alpha_1024": "initial_alpha_value",
}
"""Keys of a profile -> parameters of the packet network's NIC, where both have the same unit."""


def laid_over(tree: dict[str, Any], profile: ProfileFile) -> dict[str, Any]:
    """The tree of a case, set as a profile wants it: PFC, marking, the shares of the memory, CNPs
    and the reaction point. What it leaves open, and what the packet network has not, stays."""
    switch, nic = dict(tree.get("switch") or {}), dict(tree.get("nic") or {})
    if profile.lossless:
        switch["pfc"] = nic["pfc"] = profile.lossless
    if profile.ecn:
        switch["ecn"] = [
            {
                "queues": part.priorities,
                "low_bytes": part.kmin_bytes,
                "high_bytes": part.kmax_bytes,
                "probability": part.pmax_percent / 100,
                **_averaged(switch, number, part.weighting_exponent),
            }
            for number, part in enumerate(profile.ecn)
        ]
    switch["memory"] = {**(switch.get("memory") or {}), **_memory(profile)}
    nic["dcqcn"] = {**(nic.get("dcqcn") or {}), **_dcqcn(profile, nic.get("dcqcn") or {})}
    return {**tree, "switch": switch, "nic": nic}


def _averaged(switch: dict[str, Any], number: int, exponent: int) -> dict[str, Any]:
    """How the queue is looked at is the switch's, and stays as the case has it (S26)."""
    curves = switch.get("ecn") or []
    kept = curves[min(number, len(curves) - 1)] if curves else {}
    of_switch = {key: kept[key] for key in ("poll_period_us", "mark") if key in kept}
    given = exponent or kept.get("weighting_exponent", 0)
    return {**of_switch, "weighting_exponent": given}


def _memory(profile: ProfileFile) -> dict[str, Any]:
    if profile.buffer is None:
        return {}
    cell = cell_bytes(profile)
    found: dict[str, Any] = {}
    if profile.buffer.headroom_cells is not None:
        found["headroom_bytes"] = profile.buffer.headroom_cells * cell
    if profile.buffer.ingress is not None:
        found["alpha"] = profile.buffer.ingress.alpha
        found["guaranteed_bytes"] = profile.buffer.ingress.guaranteed_cells * cell
    return {"cell_bytes": cell, **found}


def _dcqcn(profile: ProfileFile, known: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if profile.cnp is not None:
        found = {"cnp_priority": profile.cnp.priority, "cnp_dscp": profile.cnp.dscp}
    if profile.dcqcn is None:
        return found
    interval = profile.dcqcn.notification_point.cnp_interval_us
    if interval is not None:
        found["cnp_interval_us"] = interval
    told = _reaction(profile.dcqcn.reaction_point)
    if told:
        found["parameters"] = {**known.get("parameters", {}), **told}
    return found


def _reaction(part: ReactionPart) -> dict[str, int]:
    given = part.model_dump(exclude_none=True)
    return {REACTION[key]: int(value) for key, value in given.items() if key in REACTION}
