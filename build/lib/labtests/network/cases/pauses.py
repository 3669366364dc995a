"""The pauses of a case: how ports pause and obey, what goes wrong with them, what comes out."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from labtests.core.headroom import QUANTUM_BITS
from labtests.network import (
    FlowControl,
    LinkPause,
    Network,
    Nic,
    PauseTiming,
    PfcCounters,
    ReceiveBuffer,
    Switch,
    longest_response_ns,
)
from labtests.network.cases.device_form import (
    LinkPausePart,
    NicPart,
    PausePart,
    PortPart,
    ReceivePart,
)
from labtests.network.cases.figures import PauseFigures
from labtests.network.cases.form import CaseFile
from labtests.network.tables import NONE, PS_PER_US

HOST_INTERFACE = "e0"
NS_PER_US = 1000

PauseKey = tuple[str, str, int | None]
"""Device, port and priority; None: the whole port, 802.3x."""


def set_nic_pauses(nic: Nic, part: NicPart) -> None:
    """The NIC pauses, obeys and is drained as the part says."""
    if part.link_pause is not None:
        nic.set_link_pause(link_pause(part.link_pause))
    if part.receive is not None:
        nic.set_receive_buffer(receive_buffer(part.receive))
    if part.pause is not None:
        _set_timing(nic.flow_control, part.pause)


def set_port_pauses(switch: Switch, port: str, part: PortPart) -> None:
    """The switch port pauses and obeys as the part says."""
    if part.link_pause is not None:
        switch.set_link_pause(port, link_pause(part.link_pause))
    if part.pause is not None:
        _set_timing(switch.flow_control(port), part.pause)


def _set_timing(port: FlowControl, part: PausePart) -> None:
    waited_ns = response_ns(part, port.rate_bits_per_s)
    share = part.refresh_share or None
    port.set_timing(PauseTiming(quanta=part.quanta, refresh_share=share, response_ns=waited_ns))


def response_ns(part: PausePart, rate_bits_per_s: int) -> float:
    """From a pause's arrival until it takes effect, on a link of this rate."""
    if part.response_quanta == "longest":
        return longest_response_ns(rate_bits_per_s)
    if part.response_quanta is not None:
        return part.response_quanta * QUANTUM_BITS * 1e9 / rate_bits_per_s
    return part.response_ns or 0.0


def link_pause(part: LinkPausePart) -> LinkPause:
    """802.3x as the part says."""
    return LinkPause(**part.model_dump())


def receive_buffer(part: ReceivePart) -> ReceiveBuffer:
    """A host's rate and its NIC's buffers as the part says."""
    return ReceiveBuffer(
        **part.model_dump(exclude={"rate_gbit_per_s"}),
        bits_per_s=_bits_per_s(part.rate_gbit_per_s),
    )


def _bits_per_s(gigabit: float | None) -> int | None:
    return None if gigabit is None else round(gigabit * 1e9)


def moments_ns(case: CaseFile) -> set[int]:
    """When something is done to the pauses, or to the hosts, of this case, in ns."""
    moments = {_ns(storm.start_us) for storm in case.storms}
    moments |= {_ns(slow.start_us) for slow in case.slow_receivers}
    return moments | {_ns(s.stop_us) for s in case.slow_receivers if s.stop_us is not None}


def act(network: Network, case: CaseFile, time_ns: int) -> None:
    """What is due at this time happens."""
    for slow in case.slow_receivers:
        nic = network.nic(slow.host, HOST_INTERFACE)
        if slow.stop_us is not None and _ns(slow.stop_us) == time_ns:
            own = (case.hosts[slow.host] or NicPart()).receive or case.nic.receive
            nic.set_host_rate(_bits_per_s(own.rate_gbit_per_s if own else None))
        if _ns(slow.start_us) == time_ns:
            nic.set_host_rate(_bits_per_s(slow.rate_gbit_per_s))
    for storm in case.storms:
        if _ns(storm.start_us) == time_ns:
            flow_control(network, storm.device, storm.port).storm(
                None if storm.priorities == "all" else frozenset(storm.priorities),
                quanta=storm.quanta,
                period_us=storm.period_us,
                stop_ns=None if storm.stop_us is None else _ns(storm.stop_us),
            )


def _ns(time_us: float) -> int:
    return round(time_us * NS_PER_US)


def flow_control(network: Network, device: str, port: str | None) -> FlowControl:
    """That of a host (no port), or of a switch's port."""
    if port is None:
        return network.nic(device, HOST_INTERFACE).flow_control
    return network.switch(device).flow_control(port)


def sent_frames(case: CaseFile, network: Network) -> Mapping[PauseKey, int]:
    """PFC frames that each port has sent so far for each priority."""
    return {key: pfc.tx_frames for key, pfc in _counters(case, network)}


def held_ps(network: Network) -> Mapping[PauseKey, int]:
    """How long pauses held each port and priority so far, those never held left out."""
    now = int(network.tables.clock[0].now)
    names = [(end.device, end.interface) for end in network.wiring.ports()]
    lanes = _held_ps(network.tables.lane, now)
    found: dict[PauseKey, int] = {
        (*names[row >> 3], row & 7): int(lanes[row]) for row in np.flatnonzero(lanes).tolist()
    }
    links = _held_ps(network.tables.control, now)
    return found | {(*names[p], None): int(links[p]) for p in np.flatnonzero(links).tolist()}


def _held_ps(accounts: Any, now_ps: int) -> Any:
    """Of each lane, or link: how long pauses have held it, with the one under way."""
    lasting = np.maximum(0, np.minimum(accounts.paused_until, now_ps) - accounts.paused_since)
    return accounts.paused_ps + np.where(accounts.paused_since != NONE, lasting, 0)


def figures(
    case: CaseFile,
    network: Network,
    before_warmup: Mapping[PauseKey, int],
    held: Sequence[Mapping[PauseKey, int]],
) -> tuple[PauseFigures, ...]:
    """Every port and priority with a pause.

    `before_warmup`: what sent_frames was then; `held`: held_ps at the ends of all bins.
    """
    return tuple(
        PauseFigures(
            device=key[0],
            port=key[1],
            priority=key[2],
            sent_frames=pfc.tx_frames,
            received_frames=pfc.rx_frames,
            paused_us=pfc.rx_paused_ps / PS_PER_US,
            pausing_us=pfc.tx_paused_ps / PS_PER_US,
            sent_frames_before_warmup=before_warmup.get(key, 0),
            paused_series_us=tuple(
                (later.get(key, 0) - earlier.get(key, 0)) / PS_PER_US
                for earlier, later in pairwise(held)
            ),
        )
        for key, pfc in _counters(case, network)
        if pfc.tx_frames or pfc.rx_frames
    )


def _counters(case: CaseFile, network: Network) -> Iterator[tuple[PauseKey, PfcCounters]]:
    ports = [(name, HOST_INTERFACE, flow_control(network, name, None)) for name in case.hosts]
    for name in network.memory:
        switch = network.switch(name)
        ports += [(name, port, switch.flow_control(port)) for port in switch.ports]
    for device, name, port in ports:
        for priority, counters in enumerate(port.priorities()):
            yield (device, name, priority), counters
        link = port.link_counters()
        yield (
            (device, name, None),
            PfcCounters(link.rx_frames, link.tx_frames, link.rx_paused_ps, link.tx_paused_ps),
        )
