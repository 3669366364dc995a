"""What is lost, held up or changed on the way, as faults of an emulated device (see faults.py).

    nic-discards     port, per_million, priority, counted   that share of the packets that arrive
                     (with this priority; without one, with any) reach the NIC, are counted by
                     rx_prioN_packets and discarded: `counted` as "rx_discards_phy" (with
                     rx_prioN_discards), as "rx_out_of_buffer" (with hw_counters' out_of_buffer),
                     or as "nothing"
    lossy-cable      port, per_million, counted   that share of the frames on their way *to* this
                     port, of a host or a switch, is lost; the port counts them as "fcs" errors, as
                     "symbol" errors (hosts only), or as "nothing". With `frames` instead of a
                     share: the next so many
    carrier-flap     port, milliseconds   the cable is unplugged for so long: what was on it is
                     lost; what UDP programs of this host write meanwhile is its tx_dropped
    ignores-dscp     port              a switch's port puts all that arrives into the queue of
                     priority 0 and says that it trusts what it was told to
    cnp-dscp         port, dscp        the NIC's CNPs have this DSCP, whatever cnp_dscp says
    freeze           seconds           the programs of the host stand still, as after a SIGSTOP, and
                     do not make up for it
    cpu-limit        share             the programs of the host run so much of each 20 ms
    slow-counters    seconds           what a switch shows of its counters is as it was when the
                     lab's clock last was a multiple of this
    growing-counter  port, counter, by    a counter, in the device's own word, has grown by so much:
                     of a host, one of `ethtool -S`, hw_counters or statistics/, or with port "" one
                     of /proc/net/snmp as nstat calls it; of a Comware switch, what stands before
                     the colon in `display packet-drop`, or "CRC"
    somebody         command           somebody who is logged in gives this command; nobody sees
                     what it prints

All of them act on packets or settings, but for `slow-counters` and `growing-counter`, which only
show. Counts stay when a fault is healed. Each is suffered by devices that have what it takes:
faces say so by putting an entry into `acts`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Fault = Mapping[str, Any]
Growth = Callable[[], int]

KINDS = (
    *("nic-discards", "lossy-cable", "carrier-flap", "ignores-dscp", "cnp-dscp", "freeze"),
    *("cpu-limit", "slow-counters", "growing-counter", "somebody"),
)


@dataclass(slots=True)
class Losses:
    """What one device can suffer of these, and what its counters show of it."""

    acts: dict[str, Callable[[Fault], None]] = field(default_factory=dict)  # by kind
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
