"""The pauses of a case: how ports pause and obey, what goes wrong with them, what comes out."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np

from labtests.simlab.cases.figures import PauseFigures
from labtests.simlab.cases.form import CaseFile, PausePart, StormPart
from labtests.simlab.network import (
    FlowControl,
    Network,
    PauseTiming,
    PfcCounters,
    longest_response_ns,
)
from labtests.simlab.network.pause_settings import QUANTUM_BITS
from labtests.simlab.network.tables import NONE, PS_PER_US

HOST_INTERFACE = "e0"
NS_PER_US = 1000

PauseKey = tuple[str, str, int]
"""Device, port and priority."""


def set_timing(port: FlowControl, part: PausePart | None) -> None:
    """The port pauses and obeys as the part says."""
    if part is None:
        return
    timing = PauseTiming(
        quanta=part.quanta,
        refresh_share=part.refresh_share or None,
        response_ns=_response_ns(part, port.rate_bits_per_s),
    )
    port.set_timing(timing)


def _response_ns(part: PausePart, rate_bits_per_s: int) -> float:
    if part.response_quanta == "longest":
        return longest_response_ns(rate_bits_per_s)
    if part.response_quanta is not None:
        return part.response_quanta * QUANTUM_BITS * 1e9 / rate_bits_per_s
    return part.response_ns or 0.0


def moments_ns(case: CaseFile) -> set[int]:
    """When something is done to the pauses of this case, in ns."""
    return {_start_ns(storm) for storm in case.storms}


def act(network: Network, case: CaseFile, time_ns: int) -> None:
    """What is due at this time happens."""
    for storm in case.storms:
        if _start_ns(storm) == time_ns:
            flow_control(network, storm.device, storm.port).storm(
                frozenset(storm.priorities),
                quanta=storm.quanta,
                period_us=storm.period_us,
                stop_ns=None if storm.stop_us is None else round(storm.stop_us * NS_PER_US),
            )


def _start_ns(storm: StormPart) -> int:
    return round(storm.start_us * NS_PER_US)


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
    lanes, now = network.tables.lane, int(network.tables.clock[0].now)
    under_way = lanes.paused_since != NONE
    lasting = np.minimum(lanes.paused_until, now) - lanes.paused_since
    held = lanes.paused_ps + np.where(under_way, lasting, 0)
    ends = list(network.wiring.ports())
    return {
        (ends[row >> 3].device, ends[row >> 3].interface, row & 7): int(held[row])
        for row in np.flatnonzero(held).tolist()
    }


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
