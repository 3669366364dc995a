"""One NIC port as its driver sees it: settings that take effect now, and counters."""

from types import SimpleNamespace
from typing import Any

from labtests.network.arrivals import break_silence
from labtests.network.counting import counted
from labtests.network.fabric import apply_np, apply_reaction_point, apply_rp
from labtests.network.flow_control import (
    FlowControl,
    check_priority,
    mask_of,
    paused_ps,
    priorities_of,
    told_ps,
)
from labtests.network.model import HostModel
from labtests.network.pause_settings import LinkPause, ReceiveBuffer
from labtests.network.pausing import hold
from labtests.network.receiving import begin_delivery
from labtests.network.settings import (
    NP_DEFAULTS,
    RP_DEFAULTS,
    NicCounters,
    ReactionPoint,
    check_dcqcn,
    within,
)
from labtests.network.stalling import Programs
from labtests.network.tables import (
    DISCARDING,
    ENDED,
    NONE,
    NOT_PACED,
    PACED_BY_FLOW,
    PACED_BY_PORT,
    PS_PER_US,
    STORING,
    TRUST_DOT1P,
    TRUST_DSCP,
    UDP,
    Tables,
)

_PACING = {"flow": PACED_BY_FLOW, "port": PACED_BY_PORT, "none": NOT_PACED}
MOST_GAP = 0.1
_OF_LANES = ("rx_packets", "tx_packets", "rx_bytes", "tx_bytes", "pfc_rx_frames", "pfc_tx_frames")
"""Of NicCounters, what is a column of lanes by the same name."""
_FCS_BYTES = 4
_TRUST = {"pcp": TRUST_DOT1P, "dscp": TRUST_DSCP}


class Nic:
    """A NIC port. Made by Network.nic()."""

    def __init__(self, network: HostModel, host: int) -> None:
        self._network = network
        self._host = host
        self._port = int(network.tables.host[host].port)
        self.flow_control = FlowControl(network, self._port)
        self._dcqcn = {"roce_rp": dict(RP_DEFAULTS), "roce_np": dict(NP_DEFAULTS)}
        self._wrong_cnp_dscp: int | None = None
        self._wrong_cnp_interval_us: int | None = None
        self.programs = Programs(network, host)
        self._counted: tuple[int, NicCounters] | None = None

    @property
    def _tables(self) -> Tables:
        return self._network.tables

    @property
    def _record(self) -> Any:
        return self._tables.host[self._host]

    @property
    def pfc(self) -> frozenset[int]:
        """Priorities whose pauses are obeyed."""
        return priorities_of(int(self._tables.port[self._port].pfc_on))

    def set_pfc(self, priorities: frozenset[int]) -> None:
        """Exactly these priorities obey pauses; others go on at once. Not beside 802.3x."""
        mask = mask_of(priorities)
        if mask and any(self.flow_control.link_pause):
            raise ValueError("802.3x is on: set_link_pause(None) before PFC")
        t = self._tables
        t.port[self._port].pfc_on = t.port[self._port].pfc_obeyed = mask
        for i in range(8):
            if not mask >> i & 1 and int(t.lane[8 * self._port + i].paused_until) > self._now_ps:
                hold(self._network.state, self._port, i, 0)

    def set_link_pause(self, pause: LinkPause | None) -> None:
        """802.3x on this side of the link, or off. Not beside PFC."""
        if pause is not None and self.pfc:
            raise ValueError("PFC is on: set_pfc(frozenset()) before 802.3x")
        self.flow_control.set_link_pause(pause)

    def set_receive_buffer(self, buffer: ReceiveBuffer) -> None:
        """The host takes packets in at this rate from now on; what waits, waits in such buffers."""
        control = self._tables.control[self._port]
        control.buffer_size, control.xoff_size = buffer.buffer_bytes, buffer.xoff
        control.xon_size = buffer.xon
        self.set_host_rate(buffer.bits_per_s)

    def set_host_rate(self, bits_per_s: int | None) -> None:
        """The host takes packets in at this rate from now on (ReceiveBuffer.bits_per_s)."""
        t = self._tables
        control = t.control[self._port]
        if control.buffer_size == 0 and bits_per_s is not None:
            self.set_receive_buffer(ReceiveBuffer(bits_per_s=bits_per_s))
            return
        control.host_bits_per_s = NONE if bits_per_s is None else bits_per_s
        waiting = control.buffer_head != NONE
        discarding = int(t.port[self._port].buffered) & DISCARDING
        storing = STORING if bits_per_s is not None or waiting else 0
        t.port[self._port].buffered = storing | discarding
        if bits_per_s is not None:
            break_silence(self._network.state, int(t.port[self._port].peer))
        begin_delivery(self._network.state, self._port)

    @property
    def _now_ps(self) -> int:
        return int(self._tables.clock[0].now)

    @property
    def trust(self) -> str:
        """`dscp`, or `pcp`: the tag's (packets without a tag then have priority 0)."""
        return "dscp" if self._record.trust == TRUST_DSCP else "pcp"

    def set_trust(self, trust: str) -> None:
        """Packets get their priority from this header field."""
        if trust not in _TRUST:
            raise ValueError(f"not a trust state, dscp or pcp: {trust!r}")
        self._record.trust = _TRUST[trust]
        self._network.choose_lanes(self._host)

    @property
    def dscp_map(self) -> tuple[int, ...]:
        """The priority of each DSCP 0..63, when DSCP is trusted."""
        return tuple(int(priority) for priority in self._record.dscp_map)

    def set_dscp(self, dscp: int, priority: int) -> None:
        """Packets with this DSCP have this priority."""
        check_priority(priority)
        if not 0 <= dscp <= 63:
            raise ValueError(f"not a DSCP 0..63: {dscp!r}")
        self._record.dscp_map[dscp] = priority
        self._network.choose_lanes(self._host)

    @property
    def rp_enabled(self) -> frozenset[int]:
        """Priorities whose flows react to CNPs."""
        return priorities_of(int(self._record.rp_on))

    @property
    def np_enabled(self) -> frozenset[int]:
        """Priorities whose marked packets are answered with CNPs."""
        return priorities_of(int(self._record.np_on))

    def set_rp(self, priority: int, enabled: bool) -> None:
        """Flows of this priority react to CNPs, or do not: then their limiter is taken off."""
        mask = mask_of((self.rp_enabled - {priority}) | ({priority} if enabled else frozenset()))
        check_priority(priority)
        self._record.rp_on = mask
        if not enabled:
            self._network.unlimit(self._host, priority)

    def set_np(self, priority: int, enabled: bool) -> None:
        """Marked packets of this priority are answered with CNPs, or not."""
        check_priority(priority)
        mask = mask_of((self.np_enabled - {priority}) | ({priority} if enabled else frozenset()))
        self._record.np_on = mask

    def set_reaction_point(self, point: ReactionPoint) -> None:
        """The NIC's reaction point has another form (reaction.py) from now on.

        `set_dcqcn` of a reaction point parameter brings the ConnectX form back.
        """
        apply_reaction_point(self._tables, self._host, point)

    def set_np_in_order(self, only: bool) -> None:
        """A marked packet makes a CNP only with an ACK or NAK (HPCC's ns-3 fork), or always."""
        self._record.np_in_order = int(only)

    def set_np_polled(self, polled: bool) -> None:
        """CNPs go at the ends of intervals in which a marked packet came (ns3-rdma), or at once."""
        self._record.np_polled = int(polled and self._record.cnp_interval_ps > 0)

    def set_random_gap(self, share: float) -> None:
        """Behind each frame it sends, the NIC waits up to this share (0..0.1) of the frame's time.

        Equally likely 0 to that. 0: frames follow each other at line rate. Two NICs without any
        keep their phase for ever: in a full queue one of them gets every place that becomes free
        (phase effect: Floyd, Jacobson 1992). How much real NICs wait is not known here.
        """
        if not 0 <= share <= MOST_GAP:
            raise ValueError(f"not a share of a frame's time, 0..{MOST_GAP}: {share}")
        port = self._tables.port[self._port]
        port.gap_ppm = round(share * 1_000_000)
        port.uneven = int(port.gap_ppm > 0 or port.rest_parts > 0)

    def set_cnp_pacing(self, by: str) -> None:
        """min_time_between_cnps holds for each `flow` (queue pair), for the `port`, or for `none`.

        A polled notification point (set_np_polled) keeps its interval for each flow.
        """
        if by not in _PACING:
            raise ValueError(f"not a CNP pacing, flow, port or none: {by!r}")
        self._record.cnp_pacing = _PACING[by]

    @property
    def dcqcn_rp(self) -> dict[str, int]:
        """Reaction point parameters by sysfs name (a copy; units: settings.py)."""
        return dict(self._dcqcn["roce_rp"])

    @property
    def dcqcn_np(self) -> dict[str, int]:
        """Notification point parameters by sysfs name (a copy; units: settings.py)."""
        return dict(self._dcqcn["roce_np"])

    def set_dcqcn(self, side: str, name: str, value: int) -> None:
        """One DCQCN parameter of `roce_rp` or `roce_np`. An unknown one raises KeyError."""
        values = self._dcqcn[side]
        if name not in values:
            raise KeyError(name)
        check_dcqcn(name, value)
        values[name] = value
        apply = apply_rp if side == "roce_rp" else apply_np
        apply(self._tables, self._host, values)
        self.mark_cnps(self._wrong_cnp_dscp)
        self.space_cnps(self._wrong_cnp_interval_us)

    # -- faults --

    def mark_cnps(self, dscp: int | None) -> None:
        """Fault: CNPs have this DSCP, whatever `cnp_dscp` says; None: they have that one again."""
        self._wrong_cnp_dscp = dscp
        own = self._dcqcn["roce_np"]["cnp_dscp"]
        self._record.cnp_dscp = own if dscp is None else dscp

    def space_cnps(self, interval_us: int | None) -> None:
        """Fault: so long between two CNPs, whatever `min_time_between_cnps` says; None: healed."""
        self._wrong_cnp_interval_us = interval_us
        own = self._dcqcn["roce_np"]["min_time_between_cnps"]
        self._record.cnp_interval_ps = PS_PER_US * (own if interval_us is None else interval_us)

    def heed_one_cnp_in(self, number: int) -> None:
        """Fault: it slows down on one of so many CNPs, and counts all as handled; 0: on each."""
        within("one CNP in", number, 0, 1_000_000)
        self._record.one_cnp_in = number

    def forget_cnps_to(self, peer: "Nic | None") -> None:
        """Fault: this NIC's flows get none of its CNPs; None: all get theirs."""
        self._record.forgotten = 0 if peer is None else peer._host + 1

    def discard_randomly(self, priority: int, per_million: int) -> None:
        """Fault: that share of the packets that arrive with this priority gets no further."""
        check_priority(priority)
        within("per million", per_million, 0, 1_000_000)
        t = self._tables
        queues = t.queue[8 * self._port : 8 * self._port + 8]
        queues.loss_per_million[priority] = per_million
        break_silence(self._network.state, int(t.port[self._port].peer))
        buffered = int(t.port[self._port].buffered) & ~DISCARDING
        t.port[self._port].buffered = buffered | (
            DISCARDING if queues.loss_per_million.any() else 0
        )

    @property
    def discarded(self) -> tuple[int, ...]:
        """Packets of each priority that were lost so."""
        queues = self._tables.queue[8 * self._port : 8 * self._port + 8]
        return tuple(queues.dropped_packets.tolist())

    def counters(self) -> NicCounters:
        """All counters, now. A tool that reads files one by one asks for each of them."""
        if self._counted is None or self._counted[0] != self._network.handed_out:
            self._counted = self._network.handed_out, self._count()
        return self._counted[1]

    def _count(self) -> NicCounters:
        t, now_ps = self._tables, self._now_ps
        host, control = _still(self._record), _still(t.control[self._port])
        lanes = [_still(t.lane[row]) for row in range(8 * self._port, 8 * self._port + 8)]
        link, pauses = self.flow_control.link_counters(), [_pause(lane, now_ps) for lane in lanes]
        return counted(
            NicCounters,
            host,
            **{name: tuple(getattr(lane, name) for lane in lanes) for name in _OF_LANES},
            pfc_rx_pause_us=tuple(paused_ps // PS_PER_US for paused_ps, _ in pauses),
            pfc_tx_pause_us=tuple(told_ps(lane, now_ps) // PS_PER_US for lane in lanes),
            pfc_rx_transitions=tuple(transitions for _, transitions in pauses),
            pause_rx_frames=control.rx_frames,
            pause_tx_frames=control.tx_frames,
            rx_discards=tuple(lane.buffer_drops for lane in lanes),
            link_pause_rx_frames=link.rx_frames,
            link_pause_tx_frames=link.tx_frames,
            link_rx_pause_us=link.rx_paused_ps // PS_PER_US,
            link_tx_pause_us=link.tx_paused_ps // PS_PER_US,
            link_rx_transitions=link.transitions,
            rnr_nak_retry_err=0,
            local_ack_timeout_err=host.local_ack_timeout,
            implied_nak_seq_err=host.implied_nak,
            udp_in_datagrams=host.udp_in,
            udp_in_errors=host.udp_rcvbuf_errors,
            udp_out_datagrams=host.udp_out,
            ip_reasm_fails=host.reasm_fails + self._unfinished(),
            ip_reasm_oks=host.reasm_oks,
            ip_reasm_reqds=host.reasm_reqds,
            ip_in_receives=host.ip_in,
            ip_in_bytes=host.ip_in_bytes - _FCS_BYTES * host.ip_in,
            ip_out_packets=host.ip_out,
            ip_out_bytes=host.ip_out_bytes - _FCS_BYTES * host.ip_out,
            ip_in_ce=host.ip_ce,
            ip_in_ect0=host.ip_ect0,
            rx_crc_errors=int(t.port[self._port].crc_errors),
        )

    def _unfinished(self) -> int:
        """Datagrams of flows that have ended whose missing fragments can no longer come."""
        flow = self._tables.flow[: self._network.flow_rows]
        here = (flow.kind == UDP) & (flow.target == self._host) & (flow.life == ENDED)
        return int((here & (flow.in_flight == 0) & (flow.rx_fragments > 0)).sum())


def _pause(lane: SimpleNamespace, now_ps: int) -> tuple[int, int]:
    """(time paused so far in ps, xoff -> xon transitions), a pause under way included."""
    ended = lane.paused_since != NONE and lane.paused_until <= now_ps
    return paused_ps(lane, now_ps), lane.transitions + ended


def _still(row: Any) -> SimpleNamespace:
    """The row as it is now, in plain numbers: numpy is slow at fields one by one."""
    return SimpleNamespace(**dict(zip(row.dtype.names, row.item(), strict=True)))
