"""What a fault of the catalogue says of itself.

Texts name places by their role, in braces: `{sender1}` (a host), `{sender1.nic}`, `{sender1.port}`
(the switch port opposite) of the switch `{sender1.switch}`; the same of `sender2` and `receiver`;
`{switch}` with the port `{bottleneck}`; the only cable between two switches on the way, from
`{trunk.switch}` `{trunk.port}` to `{trunk.next}` `{trunk.next_port}`; `{sender4}` where there
are so many; a sender's switch with two equally short ways on, `{ways.switch}`, by `{ways.port}` and
`{ways.other}`; and `{ring...}`, the same of
the first cable of a ring.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

FAMILIES = (
    "hosts",
    "NIC settings",
    "firmware and drivers",
    "cables and links",
    "switch settings",
    "switch defects",
    "counters that lie",
    "tools and processes",
    "people and clocks",
)

START, TRAFFIC, MIDDLE = "start", "traffic", "middle"
"""When: before anything runs; when the traffic starts that the suite judges; when all send. Any
other text is the beginning of a line of progress."""

Words = tuple[str | tuple[str, ...], ...]
Faults = tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """One fault. `how` is what `--fault` takes, with roles in braces.

    `red`: each of these suites has to be red, with words of each of `says` (of a tuple, one).
    `unseen`: why each of them is green, because nobody could see it. `switches`, `hosts`: platforms
    of the switch before the receiver, and of hosts, that can have it; none: any. `skips`: suites
    may also be skipped, with these words. `roomy`: nothing that earlier...
    """

    name: str
    family: str
    what: str
    how: Faults
    red: tuple[str, ...]
    says: Words = ()
    when: str = START
    unseen: str = ""
    skips: bool = False
    switches: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """Another one for each other declaration: results of an old one do not count."""
        told = json.dumps(asdict(self), sort_keys=True)
        return hashlib.sha256(told.encode()).hexdigest()[:12]


def fault(kind: str, device: str, port: str = "", **more: Any) -> dict[str, Any]:
    """As `--fault` takes it, with roles in braces."""
    return {"kind": kind, "device": device, **({"port": port} if port else {}), **more}


def grows(device: str, port: str, counter: str, by: int = 1) -> dict[str, Any]:
    """A counter that grows alone; one of no port has port ""."""
    return {"kind": "growing-counter", "device": device, "port": port, "counter": counter, "by": by}
