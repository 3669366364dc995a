"""What is lost, held up or changed on the way, as faults of an emulated device (fault_forms.py).

All of them act on packets or settings, but for `slow-counters` and `growing-counter`, which only
show. Counts stay when a fault is healed. Faces put how they suffer each into `acts`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Fault = Mapping[str, Any]
Growth = Callable[[], int]

KINDS = (
    *("nic-discards", "lossy-cable", "carrier-flap", "ignores-dscp", "mistakes-pauses"),
    *("mistimed-watchdog", "lingering-timeout", "late-marks"),
    *("ignores-udp-port", "ignores-rate-limits", "ignores-remarks", "misplaces-roce", "tunnel"),
    *("cnp-dscp", "cnp-interval", "forgets-cnps", "heeds-few-cnps", "freeze", "polarised-hash"),
    *("cpu-limit", "slow-counters", "growing-counter", "somebody", "stream"),
)


@dataclass(slots=True)
class Losses:
    """What one device can suffer of these, and what its counters show of it."""

    acts: dict[str, Callable[[Fault], Callable[[], str] | None]] = field(default_factory=dict)
    """By kind. What they give says why it has acted on nothing so far (faults.Met)."""
    on_heal: list[Callable[[], None]] = field(default_factory=list)
    _growing: dict[tuple[str, str], list[Growth]] = field(default_factory=dict)
    _zero: dict[tuple[str, str], int] = field(default_factory=dict)

    def grow(self, port: str, counter: str, by: Growth) -> None:
        """This counter is by so much more than it would be; what `by` gives never shrinks."""
        self._growing.setdefault((port, counter), []).append(by)

    def grown(self, port: str, counter: str) -> int:
        """How much more it is, since its last reset."""
        key = (port, counter)
        if key not in self._growing:
            return 0
        return sum(by() for by in self._growing[key]) - self._zero.get(key, 0)

    def reset(self) -> None:
        """All counters start from zero."""
        self._zero = {key: sum(by() for by in all_of) for key, all_of in self._growing.items()}

    def heal(self) -> None:
        """What acts on packets ends, and counters grow no more by it."""
        for end in self.on_heal:
            end()
        self._growing = {
            key: [_always(sum(by() for by in all_of))] for key, all_of in self._growing.items()
        }


def _always(number: int) -> Growth:
    return lambda: number
