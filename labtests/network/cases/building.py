"""A case as a network at time 0: cables, switches and NICs set, nothing started."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import fields, replace

from labtests.core.errors import LabError
from labtests.core.headroom import FULL_FRAME_BYTES
from labtests.network import (
    Cable,
    HostPort,
    Network,
    Nic,
    RateLimit,
    RcFlow,
    RcRequest,
    ReactionPoint,
    Schedule,
    Switch,
    SwitchMemory,
    SwitchPort,
    TcpFlow,
    TcpRequest,
    UdpFlow,
    UdpRequest,
    Wiring,
    WredCurve,
)
from labtests.network.cases.device_form import (
    DcqcnPart,
    EcnPart,
    MemoryPart,
    NicPart,
    PortPart,
    SchedulePart,
    SwitchPart,
)
from labtests.network.cases.form import CaseFile, FlowPart, LinkPart
from labtests.network.cases.guards import set_guard, without_other_guard
from labtests.network.cases.memory import SharedPool, memory_of
from labtests.network.cases.pathways import address_of, routing_of
from labtests.network.cases.pauses import (
    HOST_INTERFACE,
    NS_PER_US,
    response_ns,
    set_nic_pauses,
    set_port_pauses,
)
from labtests.network.fabric import own_headroom
from labtests.network.settings import NP_DEFAULTS
from labtests.network.tables import ECT_0, NOT_ECT, PS_PER_US, TAG_BYTES
from labtests.network.tunnels import VXLAN_BYTES
from labtests.network.wiring import NS_PER_M

BITS_PER_GBIT = 1e9
GBIT = 1_000_000_000

OF_RC, OF_UDP, OF_TCP = (
    {f.name for f in fields(request)} - {"ecn"} for request in (RcRequest, UdpRequest, TcpRequest)
)
OF_UDP.remove("mtu_bytes")
"""What is asked for by the names that a case has for it; its `mtu_bytes` are those of RC."""

AnyFlow = RcFlow | UdpFlow | TcpFlow


def build(case: CaseFile, *, seed: int | None = None) -> Network:
    """The network of a case; no flow has started. `seed` instead of the case's own."""
    network = Network(
        wiring_of(case),
        seed=case.seed if seed is None else seed,
        memory=memories(case),
        routing=routing_of(case),
    )
    network.start_jitter_ps = round(case.start_jitter_us * PS_PER_US)
    for name in case.hosts:
        _set_nic(network.nic(name, HOST_INTERFACE), nic_part(case, name))
    for name in case.switches:
        if any(name in link.between for link in case.links):
            _set_switch(network.switch(name), switch_part(case, name))
    return network


def memories(case: CaseFile) -> dict[str, SwitchMemory]:
    """The packet memory of each switch; headroom that is not given fits the case's frames and the
    response times of those that are paused."""
    frame_bytes = max((_frame_bytes(flow) for flow in case.flows), default=FULL_FRAME_BYTES)
    frame_bytes = max(FULL_FRAME_BYTES, frame_bytes + (VXLAN_BYTES if case.tunnels else 0))
    slowest: dict[str, float] = dict.fromkeys(case.switches, 0.0)
    for link in case.links:
        for switch, peer in (link.between, link.between[::-1]):
            if switch in slowest:
                slowest[switch] = max(slowest[switch], _response_s(case, peer, link))
    ports = Counter(name for link in case.links for name in link.between)
    found = {}
    for name in case.switches:
        part, more = switch_part(case, name).memory, (frame_bytes, slowest[name])
        memory = _fitting(memory_of(part), *more)
        shared = max(0, memory.total_bytes - _reserved_bytes(case, name, memory))
        pool = SharedPool(shared_bytes=shared, ports=ports[name])
        found[name] = _fitting(memory_of(part, pool), *more)
    return found


def _fitting(memory: SwitchMemory, frame_bytes: int, response_s: float) -> SwitchMemory:
    return replace(memory, frame_bytes=frame_bytes, response_s=response_s)


def _frame_bytes(flow: FlowPart) -> int:
    own = flow.mtu_bytes + flow.header_bytes if flow.kind == "rc" else FULL_FRAME_BYTES
    return own + (0 if flow.pcp is None else TAG_BYTES)


def _response_s(case: CaseFile, device: str, link: LinkPart) -> float:
    """How long this device takes to obey a pause on this link."""
    part = switch_part(case, device) if device in case.switches else nic_part(case, device)
    rate = round(link.rate_gbit_per_s * GBIT)
    return response_ns(part.pause, rate) / 1e9 if part.pause else 0.0


def wiring_of(case: CaseFile) -> Wiring:
    """The case's cables. A switch's port has the name of the device it leads to (`s2`, `s2#2`)."""
    addresses = {name: address_of(case, name) for name in case.hosts}
    used: Counter[tuple[str, str]] = Counter()

    def end(name: str, other: str) -> HostPort | SwitchPort:
        if name in addresses:
            return HostPort(device=name, interface=HOST_INTERFACE, address=addresses[name])
        used[name, other] += 1
        number = used[name, other]
        return SwitchPort(device=name, interface=other if number == 1 else f"{other}#{number}")

    cables = []
    for link in case.links:
        one, other = link.between
        cables.append(
            Cable(
                a=end(one, other),
                b=end(other, one),
                rate_bits_per_s=round(link.rate_gbit_per_s * GBIT),
                length_m=_length_m(link),
                overhead_bytes=link.overhead_bytes,
                loss=link.loss,
            )
        )
    return Wiring(cables=tuple(cables))


def _length_m(link: LinkPart) -> float:
    if link.length_m is not None:
        return link.length_m
    return (link.delay_us or 0.0) * NS_PER_US / NS_PER_M


def switch_part(case: CaseFile, name: str) -> SwitchPart:
    """What holds for a switch: its own settings, else those of all."""
    own = case.switches[name] or SwitchPart()
    return case.switch.model_copy(update=without_other_guard(_given(own)))


def nic_part(case: CaseFile, name: str) -> NicPart:
    """What holds for a host's NIC: its own settings, else those of all."""
    own = case.hosts[name] or NicPart()
    return case.nic.model_copy(update=_given(own))


def obeys_cnps(case: CaseFile, name: str) -> bool:
    """Whether a host's NIC has a reaction point."""
    dcqcn = nic_part(case, name).dcqcn
    return dcqcn is not None and dcqcn.form != "off"


def _given(part: PortPart | NicPart) -> dict[str, object]:
    return {name: value for name, value in part if value is not None}


def reserved_bytes(case: CaseFile, name: str) -> int:
    """What guaranteed cells, headroom and its pool take of a switch's memory, in bytes."""
    return _reserved_bytes(case, name, memories(case)[name])


def _reserved_bytes(case: CaseFile, name: str, memory: SwitchMemory) -> int:
    part = switch_part(case, name)
    reserved = memory.headroom_pool_cells
    for cable in wiring_of(case).cables:
        for end in (cable.a, cable.b):
            if end.device == name:
                own = part.model_copy(
                    update=_given((part.ports or {}).get(end.interface, PortPart()))
                )
                lossless = set(own.pfc or ())
                reserved += sum(memory.group(i).guaranteed_cells or 0 for i in range(8))
                if own.headroom_bytes is None:
                    reserved += sum(own_headroom(memory, cable, i) for i in lossless)
                else:
                    reserved += len(lossless) * (own.headroom_bytes // memory.cell_bytes)
    return reserved * memory.cell_bytes


def _set_switch(switch: Switch, part: SwitchPart) -> None:
    cell = (part.memory or MemoryPart()).cell_bytes
    for dscp, dot1p in (part.dscp_dot1p or {}).items():
        switch.set_dscp_dot1p(dscp, dot1p)
    for dot1p, queue in (part.dot1p_lp or {}).items():
        switch.set_dot1p_lp(dot1p, queue)
    for port in switch.ports:
        own = (part.ports or {}).get(port, PortPart())
        merged = part.model_copy(update=without_other_guard(_given(own)))
        _set_port(switch, port, merged, cell)


def _set_port(switch: Switch, port: str, part: PortPart, cell: int) -> None:
    switch.set_trust(port, part.trust or "dscp")
    switch.set_pfc(port, "on" if part.pfc else "off", frozenset(part.pfc or ()))
    set_port_pauses(switch, port, part)
    if part.headroom_bytes is not None:
        switch.set_headroom(port, part.headroom_bytes // cell)
    if part.schedule:
        switch.set_schedule(port, _schedule(part.schedule))
    for curve in part.ecn or ():
        for queue in curve.queues:
            switch.set_wred(port, queue, _curve(curve, cell))
    for limit in part.rate_limits or ():
        rate = RateLimit(
            bits_per_s=round(limit.rate_gbit_per_s * GBIT), burst_bytes=limit.burst_bytes
        )
        for queue in limit.queues:
            switch.set_rate_limit(port, queue, rate)
    set_guard(switch, port, part)


def _curve(curve: EcnPart, cell: int) -> WredCurve:
    return WredCurve(
        low_limit=curve.low_bytes // cell,
        high_limit=curve.high_bytes // cell,
        probability_percent=curve.probability * 100,
        weighting_exponent=curve.weighting_exponent,
        ecn=curve.mark != "never",
        mark_leaving=curve.mark == "leaving",
        poll_period_ns=round((curve.poll_period_us or 0) * NS_PER_US),
    )


def _schedule(part: SchedulePart) -> Schedule:
    if part.queues is None:
        return Schedule(discipline=part.discipline, unit=part.unit)
    queues = tuple((queue.group, queue.weight) for queue in part.queues)
    return Schedule(discipline=part.discipline, unit=part.unit, queues=queues)


def _set_nic(nic: Nic, part: NicPart) -> None:
    nic.set_trust(part.trust or "dscp")
    for dscp, priority in (part.dscp or {}).items():
        nic.set_dscp(dscp, priority)
    nic.set_pfc(frozenset(part.pfc or ()))
    set_nic_pauses(nic, part)
    dcqcn = part.dcqcn or DcqcnPart(form="off")
    _set_dcqcn_priorities(nic, part)
    for name, value in dcqcn.parameters.items():
        nic.set_dcqcn("roce_np" if name in NP_DEFAULTS else "roce_rp", name, value)
    if dcqcn.cnp_interval_us is not None:
        nic.set_dcqcn("roce_np", "min_time_between_cnps", dcqcn.cnp_interval_us)
    if dcqcn.cnp_priority is not None:
        nic.set_dcqcn("roce_np", "cnp_802p_prio", dcqcn.cnp_priority)
        nic.set_dcqcn("roce_np", "cnp_dscp", 8 * dcqcn.cnp_priority)
    if dcqcn.cnp_dscp is not None:
        nic.set_dcqcn("roce_np", "cnp_dscp", dcqcn.cnp_dscp)
    nic.set_random_gap(part.random_gap or 0.0)
    nic.set_cnp_pacing(dcqcn.cnp_pacing)
    nic.set_np_in_order(dcqcn.cnp_in_order)
    nic.set_np_polled(dcqcn.cnp_polled)
    if dcqcn.form in ("timers", "paper"):
        nic.set_reaction_point(_reaction_point(dcqcn))


def _set_dcqcn_priorities(nic: Nic, part: NicPart) -> None:
    """Without `dcqcn`, neither point works; without lists, both do for all priorities."""
    dcqcn = part.dcqcn or DcqcnPart(form="off", np_priorities=[])
    obeys = [] if dcqcn.form == "off" else dcqcn.rp_priorities
    answers = dcqcn.np_priorities
    for priority in range(8):
        nic.set_rp(priority, obeys is None or priority in obeys)
        nic.set_np(priority, answers is None or priority in answers)


def _reaction_point(part: DcqcnPart) -> ReactionPoint:
    return ReactionPoint(
        **part.model_dump(include={f.name for f in fields(ReactionPoint)}),
        additive_bits_per_s=part.additive_gbit_per_s * BITS_PER_GBIT,
        hyper_bits_per_s=part.hyper_gbit_per_s * BITS_PER_GBIT,
        min_rate_bits_per_s=part.min_rate_gbit_per_s * BITS_PER_GBIT,
    )


def start(
    network: Network, case: CaseFile, flow: FlowPart, ahead: Sequence[AnyFlow] = ()
) -> AnyFlow:
    """The flow starts now, or when those `ahead` have been delivered.

    Raises LabError when there is no way to its target.
    """
    try:
        return _started(network, case, flow, ahead)
    except KeyError as error:
        raise LabError(
            f"case {case.name}: no path from {flow.source} to {flow.target}\n"
            "  remedy: add the links between them to `links`"
        ) from error


def _started(network: Network, case: CaseFile, flow: FlowPart, ahead: Sequence[AnyFlow]) -> AnyFlow:
    sender, receiver = flow.source, flow.target
    if flow.kind == "rc" and flow.verb == "read":
        sender, receiver = receiver, sender  # the requester of a read receives the data
    ends = {
        "device": sender,
        "interface": HOST_INTERFACE,
        "destination": address_of(case, receiver),
    }
    tos = flow.priority << 5 if flow.dscp is None else flow.dscp << 2
    if flow.kind == "udp":
        return network.start_udp(
            UdpRequest(
                **ends,
                **flow.model_dump(include=OF_UDP),
                tos=tos | (ECT_0 if flow.ecn else NOT_ECT),
                rate_bits_per_s=(flow.rate_gbit_per_s or 0.0) * BITS_PER_GBIT,
            )
        )
    if flow.kind == "tcp":
        told = flow.model_dump(include=OF_TCP)
        return network.start_tcp(TcpRequest(**ends, **told, tos=tos, ecn=bool(flow.ecn)))
    return network.start_rc(
        RcRequest(
            **ends,
            **flow.model_dump(include=OF_RC),
            tos=tos,
            nak_repeat_us=flow.nack_repeat_us,
            ecn="off" if flow.ecn is False else "on",
            control_tos=None if flow.control_priority is None else flow.control_priority << 5,
            control_pcp=None if flow.pcp is None else flow.control_priority,
        ),
        after=[other for other in ahead if isinstance(other, RcFlow)],
        delay_ns=round(flow.start_us * NS_PER_US),
    )
