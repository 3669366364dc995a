"""QoS policies of ports, inbound: ACLs, traffic classes, behaviors and policies.

Commands and prompts: H3C and HPE ACL and QoS configuration guides and command references for
Comware 7. From memory: `name` of an ACL and the prompt behind it, that a DSCP with a keyword is
shown by it, and that what is in use cannot be deleted; its sentences are ours.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from labtests.simlab import switch_cli as kit
from labtests.simlab.switch_cli.grammar import TypedWord

ACL, CLASS, BEHAVIOR, POLICY = "acl", "classifier", "behavior", "qospolicy"
ROCE_PORT = 4791
KEYWORDS: Mapping[int, str] = {
    **{8 * number: f"cs{number}" for number in range(1, 8)},
    **{8 * c + 2 * d: f"af{c}{d}" for c in range(1, 5) for d in range(1, 4)},
    46: "ef",
    0: "default",
}


class ShownDscp(int):
    """A DSCP, printed by its keyword where it has one."""

    def __str__(self) -> str:
        return KEYWORDS.get(int(self), str(int(self)))


@dataclass(frozen=True, slots=True)
class Dscp:
    """A DSCP by number or keyword."""

    def read(self, words: Sequence[TypedWord]) -> tuple[Any, int] | None:
        """See Argument."""
        text = words[0].text.lower()
        named = {word: number for number, word in KEYWORDS.items()}
        if text in named:
            return ShownDscp(named[text]), 1
        number = int(text) if text.isascii() and text.isdigit() and len(text) < 3 else 64
        return (ShownDscp(number), 1) if number < 64 else None


def _both(switch: kit.EmulatedSwitch, section: kit.CliSection, call: kit.CliCall) -> None:
    """A class of a policy and its behavior have to be there."""
    kit.refers(CLASS, "class")(switch, section, call)
    kit.refers(BEHAVIOR, "behavior")(switch, section, call)


def _in_use(line: str, argument: str) -> Callable[[kit.EmulatedSwitch, str], str]:
    return kit.kept_by("It is in use.", line=line, argument=argument)


KINDS = {
    ACL: kit.SectionKind(
        header="acl advanced name {name}",
        typed="acl advanced name <acl>",
        prompt="[{host}-acl-ipv4-adv-{name}]",
        missing="The ACL does not exist.",
        settings=(
            kit.setting(
                "rule <rule> permit udp destination-port eq <udp> [ dscp <dscp> ]",
                key="rule <rule>",
                undo=("rule <rule>",),
            ),
        ),
        kept=_in_use("if-match acl name", "acl"),
    ),
    CLASS: kit.SectionKind(
        header="traffic classifier {name} operator and",
        typed="traffic classifier <class>",
        prompt="[{host}-classifier-{name}]",
        missing="The traffic classifier does not exist.",
        settings=(
            kit.setting("if-match any", key="if-match any"),
            kit.setting("if-match acl name <acl>", key="if-match acl name <acl>"),
            kit.setting("if-match dscp <dscp>", key="if-match dscp"),
        ),
        kept=_in_use("classifier", "class"),
    ),
    BEHAVIOR: kit.SectionKind(
        header="traffic behavior {name}",
        typed="traffic behavior <behavior>",
        prompt="[{host}-behavior-{name}]",
        missing="The traffic behavior does not exist.",
        settings=(kit.setting("remark local-precedence <queue>", key="remark local-precedence"),),
        kept=_in_use("classifier", "behavior"),
    ),
    POLICY: kit.SectionKind(
        header="qos policy {name}",
        typed="qos policy <policy>",
        prompt="[{host}-qospolicy-{name}]",
        missing="The QoS policy does not exist.",
        settings=(
            kit.setting(
                "classifier <class> behavior <behavior>",
                key="classifier <class>",
                undo=("classifier <class>",),
                before=_both,
            ),
        ),
        kept=_in_use("qos apply policy inbound", "policy"),
    ),
}
APPLY = kit.setting(
    "qos apply policy <policy> inbound",
    key="qos apply policy inbound",
    undo=("qos apply policy [ <policy> ] inbound",),
    line="qos apply policy <policy> inbound",
    before=kit.refers(POLICY, "policy"),
)


def applied(port: kit.CliSection) -> str:
    """The policy that the port applies to what comes in; "" for none."""
    name: str = port.value("qos apply policy inbound", "policy", "")
    return name


# -- what a port does with it --------------------------------------------------------------------


def queues(switch: kit.EmulatedSwitch, port: kit.CliSection) -> tuple[int | None, ...] | None:
    """See Switch.set_edge: the first class of the policy that a packet matches says its queue."""
    if not applied(port):
        return None
    policy = switch.configuration.find(kit.top(POLICY, applied(port)))
    pairs = [(line.values["class"], line.values["behavior"]) for line in policy.lines.values()]
    return tuple(
        next((_queue(switch, does) for of, does in pairs if _matches(switch, of, roce, dscp)), None)
        for roce in (True, False)
        for dscp in range(64)
    )


def _queue(switch: kit.EmulatedSwitch, behavior: str) -> int | None:
    section = switch.configuration.find(kit.top(BEHAVIOR, behavior))
    queue: int | None = section.value("remark local-precedence", "queue", None)
    return queue


def _matches(switch: kit.EmulatedSwitch, name: str, roce: bool, dscp: int) -> bool:
    """All criteria of a class. One without any matches nothing."""
    section = switch.configuration.find(kit.top(CLASS, name))
    return bool(section.lines) and all(_criteria(switch, section, roce, dscp))


def _criteria(
    switch: kit.EmulatedSwitch, section: kit.CliSection, roce: bool, dscp: int
) -> Iterator[bool]:
    for line in section.lines.values():
        if "acl" in line.values:
            rules = switch.configuration.find(kit.top(ACL, line.values["acl"])).lines.values()
            yield any(
                roce and rule.values["udp"] == ROCE_PORT and rule.values.get("dscp", dscp) == dscp
                for rule in rules
            )
        else:
            yield line.values.get("dscp", dscp) == dscp
