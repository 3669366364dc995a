"""Traffic pools: lines of the whole switch, by the user manual (3.10) and a published start-up
configuration. From memory: every sentence that refuses one, that a priority is in one pool only,
that each stands in a line of its own, and that nothing is shown of what is not typed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from labtests.network import GroupMemory, SwitchMemory
from labtests.simlab import switch_cli as kit
from labtests.simlab.switch_cli.grammar import TypedWord

POOL_BYTES = 8_000_000
"""What percents are of: chosen."""
_ALPHA = SwitchMemory().alpha
_POOL = "traffic pool <pool>"
_TYPE = f"{_POOL} type"


@dataclass(frozen=True, slots=True)
class PriorityList:
    """Numbers below 8 to the end of the line."""

    def read(self, words: Sequence[TypedWord]) -> tuple[Any, int] | None:
        """See Argument."""
        texts = [word.text for word in words]
        taken = all(text in "01234567" and len(text) == 1 for text in texts)
        return (tuple(map(int, texts)), len(texts)) if taken else None


def percent(text: str) -> str | None:
    """With two digits behind the point."""
    whole, _, part = text.partition(".")
    if not (whole.isascii() and whole.isdigit() and (not part or part.isdigit())):
        return None
    return f"{float(text):.2f}" if 0 < float(text) <= 100 else None


def _fits(switch: kit.EmulatedSwitch, root: kit.CliSection, call: kit.CliCall) -> None:
    others = (line for line in root.under("traffic pool") if "percent" in line.values)
    given = sum(
        float(n.values["percent"]) for n in others if n.values["pool"] != call.values["pool"]
    )
    if given + float(call.values["percent"]) > 100:
        raise kit.CommandRefused("% Memory of all traffic pools exceeds 100 percent")


def _is_free(switch: kit.EmulatedSwitch, root: kit.CliSection, call: kit.CliCall) -> None:
    for line in root.under("traffic pool"):
        taken = line.values.get("priority") in call.values["priorities"]
        if taken and line.values["pool"] != call.values["pool"]:
            found = f"{line.values['priority']} is mapped to traffic pool {line.values['pool']}"
            raise kit.CommandRefused(f"% Switch priority {found}")


ROOT = (
    kit.setting(f"{_TYPE} <pool-type>", key=_TYPE, undo=()),
    kit.setting(f"{_POOL} memory percent <percent>", key=f"{_POOL} memory", undo=(), before=_fits),
    kit.setting(
        f"{_POOL} map switch-priority <priorities>",
        key=f"{_POOL} map switch-priority <priority>",
        line=f"{_POOL} map switch-priority <priority>",
        expand=lambda call: [{**call.values, "priority": n} for n in call.values["priorities"]],
        undo=(),
        before=_is_free,
    ),
)


def _made(session: kit.CliSession, call: kit.CliCall) -> str:
    root, name = session.switch.configuration.root, call.values["pool"]
    if not root.under(f"traffic pool {name}"):
        key = f"traffic pool {name} type"
        root.lines[key] = ROOT[0].made(f"{key} lossy", {"pool": name, "pool-type": "lossy"})
    return ""


def _removed(session: kit.CliSession, call: kit.CliCall) -> str:
    root, name = session.switch.configuration.root, call.values["pool"]
    if not root.under(f"traffic pool {name}"):
        raise kit.CommandRefused(f"% Traffic pool {name} does not exist")
    root.clear(f"traffic pool {name}")
    session.switch.changed(root)
    return ""


COMMANDS = {
    f"{_POOL} [ force ]": kit.CliCommand(_made, changes=True),
    f"no {_POOL} [ force ]": kit.CliCommand(_removed, changes=True),
}


def lines(switch: kit.EmulatedSwitch) -> list[str]:
    """As the running configuration has them: those of a pool together."""
    order = {setting.key: place for place, setting in enumerate(ROOT)}
    found = switch.configuration.root.under("traffic pool")
    found.sort(key=lambda line: (line.values["pool"], order[line.template], line.order))
    return [line.text for line in found]


def _of(switch: kit.EmulatedSwitch, name: str) -> tuple[str, str, tuple[int, ...]]:
    """Type, percent and priorities of a pool."""
    root, at = switch.configuration.root, f"traffic pool {name}"
    mapped = sorted(line.values["priority"] for line in root.under(f"{at} map"))
    memory = root.value(f"{at} memory", "percent", "")
    return root.value(f"{at} type", "pool-type", "lossy"), memory, tuple(mapped)


def shown(session: kit.CliSession, call: kit.CliCall) -> dict[str, Any]:
    """`show traffic pool NAME`: use is not counted."""
    name = call.values["pool"]
    if not session.switch.configuration.root.under(f"traffic pool {name}"):
        raise kit.CommandRefused(f"% Traffic pool {name} does not exist")
    of_type, memory, mapped = _of(session.switch, name)
    told = {
        "Type": of_type,
        "Switch Priorities": " ".join(map(str, mapped)),
        "Max Usage": "0",
        "Usage": "0",
        "Memory actual": f"{float(memory or 0) * POOL_BYTES / 100 / 1e6:.1f}M",
        "Memory [%]": memory or "auto",
    }
    return {name: [told], "Exception list": {"message": "N/A"}}


def lossless(switch: kit.EmulatedSwitch) -> dict[int, GroupMemory]:
    """What each priority of a lossless pool has at every port: of what is free, the share of its
    pool (chosen: pools are no parts of the network's memory)."""
    root = switch.configuration.root
    names = {line.values["pool"] for line in root.under("traffic pool")}
    return {
        priority: GroupMemory(alpha=_ALPHA * float(memory) / 100 if memory else None)
        for of_type, memory, mapped in (_of(switch, name) for name in sorted(names))
        if of_type == "lossless"
        for priority in mapped
    }
