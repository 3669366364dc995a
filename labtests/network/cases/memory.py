"""The packet memory of a case's switches: settings on the way in, watermarks on the way out."""

from dataclasses import dataclass
from typing import Any

from labtests.network import GroupMemory, Network, Switch, SwitchMemory
from labtests.network.cases.device_form import GroupPart, MemoryPart
from labtests.network.cases.figures import GroupFigures, MemoryFigures


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedPool:
    """What the ports of a switch share of its memory."""

    shared_bytes: int
    ports: int


def memory_of(part: MemoryPart | None, pool: SharedPool | None = None) -> SwitchMemory:
    """Bytes of the case file as whole cells; `pool`: what the default offset has to fit."""
    part = part or MemoryPart()
    offset = usual_xon_offset_bytes(part, _threshold_bytes(part, part, pool))
    return SwitchMemory(
        **(_settings(part, part.cell_bytes) | {"xon_offset_cells": offset // part.cell_bytes}),
        priorities={
            priority: GroupMemory(**_group_settings(part, group, pool))
            for group in part.groups or ()
            for priority in group.priorities
        },
    )


def usual_xon_offset_bytes(part: MemoryPart, threshold_bytes: int) -> int:
    """How far below its threshold a group resumes: as given, else as the form says, but at most
    half of the threshold: a larger one would let each pause last until nothing is left."""
    if "xon_offset_bytes" in part.model_fields_set:
        return part.xon_offset_bytes
    return min(part.xon_offset_bytes, threshold_bytes // 2)


def _threshold_bytes(
    part: MemoryPart, group: MemoryPart | GroupPart, pool: SharedPool | None
) -> int:
    """A static threshold, or the dynamic one when all ports are at theirs: alpha B / (1 + alpha N)
    (Choudhury and Hahne, ToN 1998)."""
    xoff = part.xoff_bytes if group.xoff_bytes is None and group.alpha is None else group.xoff_bytes
    if xoff is not None or pool is None:
        return 2 * part.total_bytes if xoff is None else xoff
    alpha = group.alpha or part.alpha
    return int(alpha * pool.shared_bytes / (1 + alpha * pool.ports))


def _group_settings(part: MemoryPart, group: GroupPart, pool: SharedPool | None) -> dict[str, Any]:
    own = _settings(group, part.cell_bytes)
    if group.xon_offset_bytes is None:
        offset = usual_xon_offset_bytes(part, _threshold_bytes(part, group, pool))
        own["xon_offset_cells"] = offset // part.cell_bytes
    return own


_NOT_IN_CELLS = ("total_bytes", "cell_bytes", "alpha", "egress_alpha")


def _settings(part: MemoryPart | GroupPart, cell: int) -> dict[str, Any]:
    """By their names in the network, where `x_bytes` is `x_cells`."""
    found: dict[str, Any] = {}
    for name, value in part:
        if name in _NOT_IN_CELLS:
            found[name] = value
        elif name.endswith("_bytes"):
            found[name.replace("_bytes", "_cells")] = None if value is None else value // cell
    return found


def memory_figures(network: Network, name: str) -> MemoryFigures:
    """What the memory of a switch held at most, and what it dropped."""
    switch, cell = network.switch(name), network.memory[name].cell_bytes
    use = switch.memory_use()
    return MemoryFigures(
        switch=name,
        total_bytes=use.total_cells * cell,
        shared_bytes=use.shared_cells * cell,
        peak_used_bytes=use.peak_used_cells * cell,
        headroom_pool_bytes=use.headroom_pool_cells * cell,
        peak_headroom_pool_bytes=use.peak_headroom_pool_cells * cell,
        peak_headroom_bytes={
            f"{port}/{priority}": cells * cell
            for (port, priority), cells in use.peak_headroom_cells.items()
            if cells
        },
        peak_queue_bytes={
            f"{port}/{queue}": counters.peak_cells * cell
            for port in switch.ports
            for queue, counters in enumerate(switch.queue_counters(port))
            if counters.peak_cells
        },
        groups=tuple(_groups(switch, name, cell)),
    )


def _groups(switch: Switch, name: str, cell: int) -> list[GroupFigures]:
    found = []
    for port in switch.ports:
        for priority, group in enumerate(switch.group_counters(port)):
            dropped = group.headroom_drops + group.buffer_drops
            if not (group.peak_shared_cells or group.peak_headroom_cells or dropped):
                continue
            found.append(
                GroupFigures(
                    switch=name,
                    port=port,
                    priority=priority,
                    peak_shared_bytes=group.peak_shared_cells * cell,
                    peak_headroom_bytes=group.peak_headroom_cells * cell,
                    headroom_drops=group.headroom_drops,
                    input_buffer_drops=group.buffer_drops,
                )
            )
    return found
