"""Revisions: what each user has pending, what is applied, and what it was before.

`nv set` begins one, `nv config apply` puts it in force, or says why not and leaves it pending.
"""

import re
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import datetime

from labtests.simlab.cumulus.model import RULES, Place, Tree, applied_view, flat
from labtests.simlab.linux.options import Refused
from labtests.simlab.screens import columns

_COLUMNS = (("Rev ID", 20), ("State", 17), ("Apply ID", 32), ("Apply Date", 19), ("Type", 8),
            ("User", 7), ("Reason", 13), ("Message", 31))  # fmt: skip


@dataclass(frozen=True, slots=True)
class Revision:
    """One that was applied."""

    number: int
    user: str
    at: datetime
    tree: Tree


@dataclass(slots=True)
class Revisions:
    """Of one switch. Trees have what somebody has set, and not what is there by itself."""

    ports: tuple[str, ...]
    tree: Tree = field(default_factory=dict)
    startup: Tree = field(default_factory=dict)
    applied: list[Revision] = field(default_factory=list)
    pending: dict[str, tuple[int, Tree]] = field(default_factory=dict)
    last: int = 0

    def begin(self, user: str) -> tuple[Tree, str]:
        """The user's pending tree, and what is said when it is new."""
        said = ""
        if user not in self.pending:
            self.last += 1
            self.pending[user] = (self.last, deepcopy(self.tree))
            said = f"created [rev_id: {self.last}]\n"
        return self.pending[user][1], said

    def detach(self, user: str) -> None:
        """What is pending is given up."""
        self.pending.pop(user, None)

    def apply(self, user: str, at: datetime, number: str = "") -> str:
        """It is in force. Raises Refused."""
        if number:
            known = {str(each.number): each.tree for each in self.applied}
            if number not in known:
                raise Refused(f"Error: Unknown revision: {number}\n")
            self.last += 1
            revision, tree = self.last, deepcopy(known[number])
        elif user in self.pending:
            revision, tree = self.pending[user]
        else:
            raise Refused("Error: there is no pending revision\n")
        if problems := list(_invalid(self.ports, tree)):
            told = "".join(f"  {each}\n" for each in problems)
            raise Refused(printed=f"Invalid config [rev_id: {revision}]\n{told}")
        self.tree = tree
        self.pending.pop(user, None)
        self.applied.append(Revision(revision, user, at, deepcopy(tree)))
        return f"applied [rev_id: {revision}]\n"

    def differences(self, user: str) -> tuple[list[tuple[Place, object]], list[Place]]:
        """Of what is pending: what is set, and what is unset."""
        now = dict(flat(self.tree))
        wanted = dict(flat(self.pending[user][1])) if user in self.pending else now
        new = [(path, each) for path, each in wanted.items() if now.get(path, self) != each]
        return new, [path for path in now if path not in wanted]

    def states(self) -> dict[str, dict[str, str]]:
        """`nv config revision -o json`: its fields `state` alone are known (programs read them)."""
        told = {str(each.number): {"state": "applied"} for each in self.applied}
        return told | {str(number): {"state": "pending"} for number, _ in self.pending.values()}

    def table(self) -> str:
        """`nv config revision`."""
        rows = [tuple(name for name, _ in _COLUMNS), tuple("-" * width for _, width in _COLUMNS)]
        for count, each in enumerate(self.applied, start=1):
            rows.append((str(each.number), "applied", f"rev_{each.number}_apply_{count}",
                         f"{each.at:%Y-%m-%d %H:%M:%S}", "CLI", each.user, "Config update",
                         f"Config update by {each.user}"))  # fmt: skip
        widths = [width + 2 for _, width in _COLUMNS]
        return "".join(f"{columns(row, *widths)}\n" for row in rows)


# -- what cannot be applied ------------------------------------------------------------------------


def _invalid(ports: tuple[str, ...], tree: Tree) -> list[str]:
    wrong = [text for path, value in flat(tree) if (text := _value(path, value))]
    whole = applied_view(ports, tree)
    qos = whole["qos"]
    for name, profile in qos["egress-scheduler"].items():
        shares = sum(each.get("bw-percent", 0) for each in profile["traffic-class"].values())
        if not wrong and shares > 100:
            wrong.append(f"egress-scheduler {name}: {shares} percent are more than 100")
    if not wrong and sum(e.get("memory-percent", 0) for e in qos["traffic-pool"].values()) > 100:
        wrong.append("traffic-pool: memory-percent of all pools is more than 100")
    if qos["roce"].get("mode") == "lossy" and qos["pfc"].get("default-global"):
        wrong.append("roce: mode lossy, and pfc has a profile default-global")
    for port in ports:
        for feature, told in whole["interface"][port].get("qos", {}).items():
            if "profile" in told and told["profile"] not in qos[feature]:
                wrong.append(f"interface {port}: {feature} profile {told['profile']} is not there")
    return wrong


def _value(path: Place, value: object) -> str:
    """As jsonschema says it."""
    leaf, said = _leaf(path), ""
    if "|" in leaf:
        words = leaf.split("|")
        said = "" if value in words else f"{value!r} is not one of {words}"
    elif leaf and leaf != "<profile>" and not isinstance(value, int):
        said = f"{value!r} is not of type 'integer'"
    elif isinstance(value, int) and leaf != "<profile>":
        low, high = map(int, leaf.split("-"))
        said = f"{value} is greater than the maximum of {high}" if value > high else said
        said = f"{value} is less than the minimum of {low}" if value < low else said
    return said and f"Config invalid at {'.'.join(path)}: {said}"


def _leaf(path: Place) -> str:
    for steps, leaf in RULES:
        fits = (step.startswith("<") or re.fullmatch(step, name)
                for step, name in zip(steps, path, strict=False))  # fmt: skip
        if len(steps) == len(path) and all(fits):
            return leaf
    return ""
