"""Whether what was to go wrong at a point did. What did not is "not tripped", never survived.

The evidence is what the runner told while it was alive (sabotage.py), its exit status, the lab's
own account of what its devices have suffered, and their clocks.
"""

import gzip
import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from labtests.capabilities.facts import OwnClock
from labtests.lab.lab import Lab
from labtests.simlab.injection import happened

HOURS_AT_LEAST_S = 4 * 3600
SUFFERED = ("cut", "reboot", "hang", "lie")
REFUSED = {"full disk": "ENOSPC", "no growth": "EFBIG"}


@dataclass(frozen=True, slots=True)
class Evidence:
    """Of one broken run. `suffered`: by all devices together, while it ran."""

    code: int
    told: tuple[str, ...]
    suffered: Mapping[str, int]
    second: str
    folder: Path

    def values(self, word: str) -> list[str]:
        """What was told behind this word."""
        return [text.removeprefix(f"{word}: ") for text in self.told if text.startswith(word)]


def sufferings(folder: Path, devices: tuple[str, ...]) -> Counter[str]:
    """What all devices of the lab that is served there have suffered until now."""
    total: Counter[str] = Counter()
    for device in devices:
        total.update(happened(folder, device))
    return total


def not_tripped(way: str, seen: Evidence, lab: Lab) -> str:
    """Why this point shows nothing; "" when what was to happen happened."""
    if not seen.values("line"):
        return "the run never came to that line of its journal"
    return "" if PROOFS[way](seen, lab) else f"no evidence of it: {seen.told} {seen.suffered}"


def _suffered(kind: str) -> Callable[[Evidence, Lab], bool]:
    return lambda seen, lab: seen.suffered[kind] > 0


def _interrupted(name: str, times: int = 1) -> Callable[[Evidence, Lab], bool]:
    return lambda seen, lab: seen.values("interrupted").count(name) >= times


def _refused(way: str) -> Callable[[Evidence, Lab], bool]:
    return lambda seen, lab: seen.values("disk") == [REFUSED[way]]


def _own_clock_jumped(seen: Evidence, lab: Lab) -> bool:
    return any(abs(float(off)) > HOURS_AT_LEAST_S for off in seen.values("clock"))


def _their_clock_jumped(seen: Evidence, lab: Lab) -> bool:
    """A device's clock is far from those of the others."""
    shown = [lab.ask(name, part.own_clock()).device_s for name, part in lab.able(OwnClock).items()]
    return max(shown) - min(shown) > HOURS_AT_LEAST_S


def _frozen(seen: Evidence, lab: Lab) -> bool:
    """It stood still, somebody else changed the lab, and it went on, and ended, meanwhile."""
    return bool(seen.values("stopped") and seen.values("thawed") and seen.values("ended"))


PROOFS: Mapping[str, Callable[[Evidence, Lab], bool]] = {
    "kill -9": lambda seen, lab: seen.code == -9,
    "SIGTERM": _interrupted("SIGTERM"),
    "SIGHUP": _interrupted("SIGHUP"),
    "SIGINT": _interrupted("SIGINT"),
    "SIGINT twice": _interrupted("SIGINT", times=2),
    **{kind: _suffered(kind) for kind in SUFFERED},
    **{way: _refused(way) for way in REFUSED},
    "second run": lambda seen, lab: bool(seen.second),
    "clock": _own_clock_jumped,
    "their clock": _their_clock_jumped,
    "frozen": _frozen,
}


def changed_by_both(seen: Evidence) -> list[str]:
    """Commands with which a frozen runner changed something when it went on: another has the
    lab by then."""
    (thawed,) = seen.values("thawed") or ["inf"]
    packed, plain = seen.folder / "journal.jsonl.gz", seen.folder / "journal.jsonl"
    told = gzip.decompress(packed.read_bytes()) if packed.exists() else plain.read_bytes()
    late = [line for line in map(json.loads, told.splitlines()) if line["time_s"] >= float(thawed)]
    return [f"{each['device']}: {each['commands']}" for each in late if "commands" in each]
