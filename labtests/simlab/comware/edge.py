"""QoS policies of ports, inbound: ACLs, traffic classes, behaviors and policies.

Commands and prompts: H3C and HPE ACL and QoS configuration guides and command references for
Comware 7. From memory: `name` of an ACL and the prompt behind it, that a DSCP with a keyword is
shown by it, `remark dscp` and where it stands in a behavior, and that what is in use cannot be
deleted; its sentences are ours. Chosen: the priority of PFC is that of the DSCP that came in.
"""

from collections.abc import Mapping
from typing import Any

from labtests.network import EdgeClass
from labtests.simlab import switch_cli as kit
from labtests.simlab.comware.objects import named

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


_NUMBERS = {word: n for n, word in KEYWORDS.items()} | {str(n): n for n in range(64)}


def dscp(text: str) -> ShownDscp | None:
    """By number or keyword, in any case."""
    number = _NUMBERS.get(text.lower())
    return None if number is None else ShownDscp(number)


def _both(switch: kit.EmulatedSwitch, section: kit.CliSection, call: kit.CliCall) -> None:
    """A class of a policy and its behavior have to be there."""
    kit.refers(CLASS, "class")(switch, section, call)
    kit.refers(BEHAVIOR, "behavior")(switch, section, call)


KINDS = {
    ACL: named(
        "ACL",
        "acl advanced name <acl>",
        kit.setting(
            "rule <rule> permit udp destination-port eq <udp> [ dscp <dscp> ]",
            key="rule <rule>",
            undo=("rule <rule>",),
        ),
        prompt="[{host}-acl-ipv4-adv-{name}]",
        used="if-match acl name",
    ),
    CLASS: named(
        "traffic classifier",
        "traffic classifier <class>",
        kit.setting("if-match any", key="if-match any"),
        kit.setting("if-match acl name <acl>", key="if-match acl name <acl>"),
        kit.setting("if-match dscp <dscp>", key="if-match dscp"),
        header="traffic classifier {name} operator and",
        prompt="[{host}-classifier-{name}]",
        used="classifier",
    ),
    BEHAVIOR: named(
        "traffic behavior",
        "traffic behavior <behavior>",
        kit.setting("remark dscp <dscp>", key="remark dscp"),
        kit.setting("remark local-precedence <queue>", key="remark local-precedence"),
        prompt="[{host}-behavior-{name}]",
        used="classifier",
    ),
    POLICY: named(
        "QoS policy",
        "qos policy <policy>",
        kit.setting(
            "classifier <class> behavior <behavior>",
            key="classifier <class>",
            undo=("classifier <class>",),
            before=_both,
        ),
        prompt="[{host}-qospolicy-{name}]",
        used="qos apply policy inbound",
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


def classes(switch: kit.EmulatedSwitch, port: kit.CliSection) -> tuple[EdgeClass, ...] | None:
    """See Switch.set_edge: the first class of the policy that a packet matches says what becomes
    of it."""
    if not applied(port):
        return None
    policy = switch.configuration.find(kit.top(POLICY, applied(port)))
    pairs = [(line.values["class"], line.values["behavior"]) for line in policy.lines.values()]
    return tuple(
        next(
            (_does(switch, does) for of, does in pairs if _matches(switch, of, roce, dscp)),
            EdgeClass(),
        )
        for roce in (True, False)
        for dscp in range(64)
    )


def _does(switch: kit.EmulatedSwitch, behavior: str) -> EdgeClass:
    section = switch.configuration.find(kit.top(BEHAVIOR, behavior))
    return EdgeClass(
        queue=section.value("remark local-precedence", "queue", None),
        dscp=section.value("remark dscp", "dscp", None),
    )


def _matches(switch: kit.EmulatedSwitch, name: str, roce: bool, dscp: int) -> bool:
    """All criteria of a class. One without any matches nothing."""
    lines = switch.configuration.find(kit.top(CLASS, name)).lines.values()
    return bool(lines) and all(_meets(switch, line.values, roce, dscp) for line in lines)


def _meets(switch: kit.EmulatedSwitch, asked: Mapping[str, Any], roce: bool, dscp: int) -> bool:
    """Any rule of an ACL; or the DSCP, where one is asked for."""
    if "acl" not in asked:
        return asked.get("dscp", dscp) == dscp  # type: ignore[no-any-return]
    rules = switch.configuration.find(kit.top(ACL, asked["acl"])).lines.values()
    told = [rule.values for rule in rules if roce and rule.values["udp"] == ROCE_PORT]
    return any(each.get("dscp", dscp) == dscp for each in told)
