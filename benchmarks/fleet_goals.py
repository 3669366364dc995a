"""The goals of fleet.py, and whether they are met."""

from dataclasses import dataclass

from fleet_runs import FABRIC, FLOOR, LABTESTS, Json, ansible_name, ratio, work_ratio

ANSIBLE = {"raw": 8.0, "shell": 40.0}
Found = dict[str, list[Json]]


@dataclass(frozen=True)
class Goal:
    """A ratio that is to be at most, or at least, so much."""

    name: str
    goal: float
    found: float
    at_least: bool = False

    def told(self) -> str:
        """A row of the table."""
        met = self.found >= self.goal if self.at_least else self.found <= self.goal
        bound = f"{'>=' if self.at_least else '<='} {self.goal:.1f}"
        return f"{self.name:61} {bound:>8} {self.found:6.2f} {'met' if met else 'missed'}"


def print_goals(reads: Found, chain: Found | None = None) -> None:
    """Of neighbouring runs: the six reads, and the chain of a profile where it was measured."""
    rows = _reads(reads) + (_chain(chain) if chain else [])
    print(f"\n{'':61} {'goal':>8} {'found':>6}")
    for row in rows:
        print(row.told())


def _reads(found: Found) -> list[Goal]:
    """No slower than Fabric, within 1.3 times the floor, so many times as fast as Ansible."""
    ours, floor, fabric = found[LABTESTS], found[FLOOR], found[FABRIC]
    rows = [
        Goal("six reads, labtests / Fabric, whole processes", 1.0, ratio(ours, fabric)),
        Goal("six reads, labtests / Fabric, without start and imports", 1.0,
             work_ratio(ours, fabric)),
        Goal("six reads, labtests / floor, whole processes", 1.3, ratio(ours, floor)),
        Goal("six reads, labtests / floor, without start and imports", 1.3,
             work_ratio(ours, floor)),
    ]  # fmt: skip
    for module, goal in ANSIBLE.items():
        if theirs := found.get(ansible_name(module)):
            name = f"six reads, Ansible {module} / labtests, whole processes"
            rows.append(Goal(name, goal, ratio(theirs, ours), at_least=True))
    return rows


def _chain(found: Found) -> list[Goal]:
    ours, floor = found[LABTESTS], found[FLOOR]
    rows = [
        Goal("profile, labtests / floor, whole processes", 1.3, ratio(ours, floor)),
        Goal("profile, labtests / floor, without start and imports", 1.3,
             ratio(ours, floor, "parts_s")),
    ]  # fmt: skip
    if raw := found.get(ansible_name("raw")):
        name = "profile, Ansible raw / labtests, whole processes"
        rows.append(Goal(name, ANSIBLE["raw"], ratio(raw, ours), at_least=True))
    return rows
