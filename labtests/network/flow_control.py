"""The pauses of one port, NIC or switch: timing, storms, counters."""

from typing import Any, Literal

from labtests.network.events import timer_slot, wake_by
from labtests.network.model import NetworkModel
from labtests.network.pause_frames import (
    EMPTY_BIT,
    LINK_BIT,
    NAMELESS_BIT,
    end_storm,
)
from labtests.network.pause_settings import (
    LinkPause,
    LinkPauseCounters,
    PauseCounters,
    PauseTiming,
)
from labtests.network.pausing import hold_link
from labtests.network.settings import PfcCounters
from labtests.network.tables import (
    HEEDS_ANY,
    LINK_OBEY,
    LINK_SEND,
    LONGEST_QUANTA,
    NEVER,
    NONE,
    PS_PER_NS,
    PS_PER_US,
    WANTS_SOURCE,
    Tables,
)

_FAULTS = HEEDS_ANY | WANTS_SOURCE


def mask_of(priorities: frozenset[int]) -> int:
    """One bit per priority."""
    for priority in priorities:
        check_priority(priority)
    return sum(1 << priority for priority in priorities)


def priorities_of(mask: int) -> frozenset[int]:
    """The priorities whose bit is set."""
    return frozenset(i for i in range(8) if mask >> i & 1)


def check_priority(priority: int) -> None:
    """A priority, or a queue, is 0..7."""
    if not 0 <= priority <= 7:
        raise ValueError(f"not a priority 0..7: {priority!r}")


def paused_ps(account: Any, now_ps: int) -> int:
    """How long a port and priority (or a link) was held by pauses so far, with one under way."""
    if account.paused_since == NONE:
        return int(account.paused_ps)
    until = min(now_ps, int(account.paused_until))
    return int(account.paused_ps) + max(0, until - int(account.paused_since))


def told_ps(account: Any, now_ps: int) -> int:
    """How long the pauses that a port sent for a priority (or a link) were in force so far."""
    if account.told_since == NONE:
        return int(account.told_ps)
    until = min(now_ps, int(account.told_until))
    return int(account.told_ps) + until - int(account.told_since)


class FlowControl:
    """The pauses of a port. Made by Nic.flow_control and Switch.flow_control()."""

    def __init__(self, network: NetworkModel, port: int) -> None:
        self._network = network
        self._port = port

    @property
    def _tables(self) -> Tables:
        return self._network.tables

    @property
    def _control(self) -> Any:
        return self._tables.control[self._port]

    @property
    def rate_bits_per_s(self) -> int:
        """The port's rate."""
        return self._network.wiring.cables[self._port // 2].rate_bits_per_s

    def set_timing(self, timing: PauseTiming) -> None:
        """Pauses sent, and received, from now on go by this timing."""
        port = self._tables.port[self._port]
        longest_ps = timing.quanta * int(port.quantum_ps)
        port.pause_quanta = timing.quanta
        share = timing.refresh_share
        self._control.refresh_ps = 0 if share is None else max(1, int(longest_ps * share))
        self._control.response_ps = round(timing.response_ns * PS_PER_NS)

    def set_link_pause(self, pause: LinkPause | None, *, cell_bytes: int = 1) -> None:
        """802.3x on this port, or off (None), on this side; for NICs and switches to call."""
        port, control = self._tables.port[self._port], self._control
        port.link_pause &= _FAULTS
        if pause is not None:
            port.link_pause |= LINK_SEND * pause.send + LINK_OBEY * pause.obey
        if not port.link_pause & LINK_OBEY:
            hold_link(self._network.state, self._port, int(self._tables.clock[0].now), 0)
        if not port.link_pause & LINK_SEND:
            control.link_told = 0
            port.pfc_pending &= ~LINK_BIT
        if port.switch != NONE:
            xoff = None if pause is None else pause.xoff_bytes
            xon = None if pause is None else pause.xon_bytes
            control.xoff_size = NONE if xoff is None else max(1, xoff // cell_bytes)
            control.xon_size = control.xoff_size // 2 if xon is None else xon // cell_bytes

    @property
    def link_pause(self) -> tuple[bool, bool]:
        """Whether the port (sends, obeys) 802.3x."""
        mask = int(self._tables.port[self._port].link_pause)
        return bool(mask & LINK_SEND), bool(mask & LINK_OBEY)

    def mistake_pauses(self, *, heeds_any: bool = False, wants_source: bool = False) -> None:
        """Fault: the port is held as a whole by 802.3x and by pauses for no class, in PFC mode,
        too; or no pause from the address 0 means anything to it. Neither: healed."""
        port = self._tables.port[self._port]
        port.link_pause &= ~_FAULTS
        port.link_pause |= HEEDS_ANY * heeds_any + WANTS_SOURCE * wants_source

    def storm(
        self,
        priorities: frozenset[int] | None,
        *,
        quanta: int = LONGEST_QUANTA,
        period_us: float | None = None,
        stop_ns: int | None = None,
        odd: Literal["", "no class", "no source"] = "",
    ) -> None:
        """Fault: from now on the port sends xoff for these priorities (None: 802.3x), and again.

        `odd`: for no class at all, whatever the priorities; or from the address 0.

        `quanta` in each frame, one every `period_us` (half of what they last unless given), PFC on
        or off, until end_storm() or the network's time `stop_ns`. Then nothing more is said: the
        last pause runs out.
        """
        if priorities is not None and not priorities:
            raise ValueError("a pause storm needs at least one priority")
        if not 0 <= quanta <= LONGEST_QUANTA:
            raise ValueError(f"pause quanta {quanta} is not 0..{LONGEST_QUANTA}")
        lasting_ps = quanta * int(self._tables.port[self._port].quantum_ps)
        period_ps = (
            max(PS_PER_NS, lasting_ps // 2) if period_us is None else round(period_us * PS_PER_US)
        )
        if period_ps < PS_PER_NS:
            raise ValueError("a pause storm's period is at least 0.001 us")
        now_ps = int(self._tables.clock[0].now)
        control = self._control
        control.storm = LINK_BIT if priorities is None else mask_of(priorities)
        if odd:
            control.storm = EMPTY_BIT if odd == "no class" else control.storm | NAMELESS_BIT
        control.storm_quanta, control.storm_period_ps = quanta, period_ps
        control.storm_at = now_ps
        control.storm_end = NEVER if stop_ns is None else stop_ns * PS_PER_NS
        state = self._network.state
        wake_by(state, timer_slot(state, self._port), now_ps)

    def end_storm(self) -> None:
        """The storm is over; the last pause runs out by itself."""
        end_storm(self._network.state, self._port)

    @property
    def storming(self) -> bool:
        """Whether the port is in a pause storm."""
        return bool(self._control.storm)

    def priorities(self) -> tuple[PfcCounters, ...]:
        """PFC frames and pauses of priorities 0..7."""
        now_ps = int(self._tables.clock[0].now)
        first = 8 * self._port
        return tuple(
            PfcCounters(
                rx_frames=int(lane.pfc_rx_frames),
                tx_frames=int(lane.pfc_tx_frames),
                rx_paused_ps=paused_ps(lane, now_ps),
                tx_paused_ps=told_ps(lane, now_ps),
            )
            for lane in self._tables.lane[first : first + 8]
        )

    def counters(self) -> PauseCounters:
        """Pause frames of the port."""
        control = self._control
        return PauseCounters(rx_frames=int(control.rx_frames), tx_frames=int(control.tx_frames))

    def link_counters(self) -> LinkPauseCounters:
        """802.3x frames and pauses of the port."""
        control, now_ps = self._control, int(self._tables.clock[0].now)
        over = control.paused_since != NONE and int(control.paused_until) <= now_ps
        return LinkPauseCounters(
            rx_frames=int(control.pfc_rx_frames),
            tx_frames=int(control.pfc_tx_frames),
            rx_paused_ps=paused_ps(control, now_ps),
            tx_paused_ps=told_ps(control, now_ps),
            transitions=int(control.transitions) + over,
        )
