"""DCBX between the two ends of each cable: the TLVs of IEEE 802.1Qaz for PFC and ETS, over LLDP.

A device says what a port tells; its peer hears that a second later, and is called. What a device
makes of what it hears is its own: a willing port takes it, any other keeps its own. Ends whose
versions differ hear nothing of each other (white paper, 3.4.2).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

from labtests.inventory import Endpoint, Testbed
from labtests.simlab.timeline import NS_PER_S, Timeline

Version = Literal["rev100", "rev101", "standard"]
BEST_FIRST: tuple[Version, ...] = ("standard", "rev101", "rev100")
HEARD_AFTER_NS = NS_PER_S
"""What has changed is sent with the next tick of LLDP, of which there is one a second (802.1AB)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DcbxTlvs:
    """What one port tells. `versions`: those that it can speak, the best first. ETS, as in force
    and as recommended: the class of each priority, and percent of each class (None: strict)."""

    pfc: frozenset[int]
    class_of_priority: tuple[int, ...]
    percent: tuple[int | None, ...]
    versions: tuple[Version, ...] = BEST_FIRST
    willing: bool = False


class DcbxExchange:
    """All cables of a lab."""

    def __init__(self, testbed: Testbed, timeline: Timeline) -> None:
        self._timeline = timeline
        self._peers = {end: testbed.peer(end) for link in testbed.links for end in (link.a, link.b)}
        self._told: dict[Endpoint, DcbxTlvs | None] = {}
        self._heard: dict[Endpoint, DcbxTlvs | None] = {}
        self._down: set[Endpoint] = set()
        self.on_heard: dict[Endpoint, Callable[[], None]] = {}

    def tell(self, end: Endpoint, told: DcbxTlvs | None) -> None:
        """The port tells this from now on; None: nothing."""
        if end in self._peers and self._told.get(end) != told:
            self._told[end] = told
            self._timeline.after(HEARD_AFTER_NS, partial(self._arrive, end))

    def set_link(self, end: Endpoint, up: bool) -> None:
        """The cable is plugged in at this end, or not: then both ends forget what they heard."""
        (self._down.discard if up else self._down.add)(end)
        for each in (end, self._peers.get(end)):
            if each is not None:
                self._timeline.after(HEARD_AFTER_NS * up, partial(self._arrive, each))

    def version(self, end: Endpoint) -> Version | None:
        """What both ends speak; None where the peer tells nothing that this end understands."""
        own, heard = self._told.get(end), self._heard.get(end)
        if own is None or heard is None:
            return None
        return next((each for each in own.versions if each in heard.versions), None)

    def heard(self, end: Endpoint) -> DcbxTlvs | None:
        """What the peer tells, where it is understood."""
        return self._heard[end] if self.version(end) is not None else None

    def _arrive(self, sender: Endpoint) -> None:
        peer = self._peers[sender]
        if peer is None:
            return
        told = None if {sender, peer} & self._down else self._told.get(sender)
        if self._heard.get(peer) != told:
            self._heard[peer] = told
            if peer in self.on_heard:
                self.on_heard[peer]()
