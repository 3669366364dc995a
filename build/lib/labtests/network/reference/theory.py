"""The checks against closed forms alone (formulas.py), with settings no reference run has."""

from collections.abc import Iterator
from statistics import fmean
from typing import Any

from labtests.network import headroom_for
from labtests.network.cases import CaseFile, run
from labtests.network.cases.building import build, start
from labtests.network.reference import formulas
from labtests.network.reference.hpcc import case_of
from labtests.network.reference.judging import Family, ValidationRow, check
from labtests.network.reference.stars import linked, star

NS_PER_MS = 1_000_000


# -- cases -----------------------------------------------------------------------------------------


def like_reference(senders: int, gigabit: int, **changes: Any) -> CaseFile:
    """A star with the byte-exact frames and memory of the reference runs."""
    rate, delay = f"{gigabit}Gbps", changes.pop("delay", "0.001ms")
    loss = changes.pop("loss", 0)
    parameters: dict[str, Any] = {
        "duration_ms": 10,
        "warmup_ms": 5,
        "topology": {
            "sw": [0],
            "links": [[0, 1, rate, delay, 0]]
            + [[0, n, rate, delay, loss] for n in range(2, senders + 2)],
        },
        "flows": [[n, 1, n, 4_000_000_000, (n - 2) * 0.37] for n in range(2, senders + 2)],
        "kmax": 1000,
        "pmax": 0.01 * 995 / 195,
        "buffer_bytes": 32_000_000,
        "headroom_override": 200_000,
        "watch_queue": {"switch": 0, "port": 1},
    }
    return case_of("theory", parameters | changes)


# -- checks ----------------------------------------------------------------------------------------


def frame_time() -> Iterator[ValidationRow]:
    """A lone flow gets payload / (frame + preamble + gap) of the line rate, at every rate."""
    for gigabit in (1, 10, 25, 40, 100, 400, 800):
        figures = run(star(gigabit, [{"source": "h1", "tx_depth": 2**12}], duration_ms=10))
        name = f"preamble_and_gap_{gigabit}g"
        expected = gigabit * 1024 / (1024 + 62 + 20)
        yield check(name, "goodput Gb/s").near(figures.total_goodput_gbit_per_s, expected, 0.002)


def thresholds() -> Iterator[ValidationRow]:
    """The dynamic threshold with other shares and numbers of senders than the reference's."""
    for alpha, senders in ((0.25, 2), (0.25, 6), (0.0625, 3), (0.0625, 8), (0.5, 3)):
        case = like_reference(senders, 25, alpha=alpha, duration_ms=20, warmup_ms=15)
        shared = 32_000_000 - (senders + 1) * (200_000 + 4096)
        expected = formulas.threshold_queue_bytes(alpha, shared, senders, 4096)
        measured = run(case).queues[0].percentile_bytes["50"]
        name = f"dynamic_threshold_alpha{alpha:g}_{senders}to1"
        yield check(name, "queue p50 bytes").near(measured, expected, 0.02)


def pause_periods() -> Iterator[ValidationRow]:
    """Two senders in step: so many xoffs per ms (every second PFC frame is an xon)."""
    for gigabit, delay_us, offset in ((25, 1, 50_000), (25, 5, 50_000), (100, 2, 60_000)):
        case = like_reference(
            2,
            gigabit,
            delay=f"{delay_us / 1000}ms",
            static_xoff_bytes=100_000 + 2 * gigabit * 125 * delay_us,
            resume_offset_bytes=offset,
            headroom_override=2_000_000,
        )
        figures = run(case)
        sent = [p.sent_frames - p.sent_frames_before_warmup for p in figures.pauses]
        per_ms = fmean(frames for frames in sent if frames) / 2 / 5
        period = formulas.pause_period_s(gigabit * 1.25e8, delay_us * 1e-6, offset, 1000)
        name = f"pause_period_{gigabit}g_{delay_us}us"
        yield check(name, "xoffs per port and ms").near(per_ms, 1e-3 / period, 0.025)


def headroom_cells() -> list[ValidationRow]:
    """The white paper's rule: 408 cells at 100G and 100 m, 98 at 25G and 15 m."""
    return [
        check("headroom_cells_100g_100m", "cells").near(headroom_for(10**11, 100), 408, 0.0),
        check("headroom_cells_25g_15m", "cells").near(headroom_for(25 * 10**9, 15), 98, 0.0),
    ]


def time_outs() -> Iterator[ValidationRow]:
    """A dead path: first repetition after 4.096 us x 2**exponent, status 12 after n + 1 of them."""
    for exponent, retries in ((14, 7), (14, 0), (10, 3), (8, 7)):
        case = star(25, [{"source": "h1", "timeout_exponent": exponent, "retry_limit": retries}])
        network = build(case)
        flow = start(network, case, case.flows[0])
        network.advance_to(NS_PER_MS)
        network.cut("s1", "receiver")
        step_ns = round(formulas.retransmission_s(exponent) * 1e9 / 200)
        nic, first_ms = network.nic("h1", "e0"), 0.0
        while not flow.done and network.now_ns < 2000 * NS_PER_MS:
            network.advance_to(network.now_ns + step_ns)
            if not first_ms and nic.counters().local_ack_timeout_err:
                first_ms = network.now_ns / NS_PER_MS - 1
        unit_ms = formulas.retransmission_s(exponent) * 1000
        name = f"retransmission_time_out_exponent{exponent}_retries{retries}"
        if retries:
            yield check(name, "ms until the first repetition").near(first_ms, unit_ms, 0.01)
        row, ended_ms = check(name, "ms until status 12"), network.now_ns / NS_PER_MS - 1
        yield row.near(ended_ms, (retries + 1) * unit_ms, 0.01)


def random_arrivals() -> Iterator[ValidationRow]:
    """A Poisson source at 800G into a 10G port: the mean wait of M/D/1 (by Little's law)."""
    frame, wire = 1000 + 46, 1000 + 46 + 20  # UDP 8, IPv4 20, Ethernet 14, FCS 4; preamble, gap
    source = {"source": "h1", "kind": "udp", "arrivals": "poisson", "datagram_bytes": 1000}
    for load in (0.5, 0.8, 0.9):
        rate = load * 10 * 1000 / wire
        case = star(10, [source | {"rate_gbit_per_s": rate, "send_queue_datagrams": 1000}])
        tree = case.model_dump()
        tree |= {"duration_ms": 1000.0, "warmup_ms": 0.0, "sampling": {"queue_period_us": 1.0}}
        tree["links"][1]["rate_gbit_per_s"] = 800.0
        tree["switch"]["memory"] = {"cell_bytes": 1}
        queue = run(CaseFile.model_validate(tree)).queues[0]
        wait_ns = queue.mean_bytes / frame * 1e9 / queue.forwarded_packets
        expected_ns = formulas.md1_wait_s(load, wire * 0.8e-9) * 1e9
        yield check(f"md1_load{load:g}", "mean wait ns").near(wait_ns, expected_ns, 0.05)


def fixed_points() -> Iterator[ValidationRow]:
    """DCQCN, timers form: the mean queue of 4 and 10 flows at 40G."""
    for flows in (4, 10):
        case = like_reference(flows, 40, ecn=True, duration_ms=200, warmup_ms=50)
        p = formulas.dcqcn_marking(flows, 40e9, 1000, increase_bits_per_s=40e6)
        expected = formulas.marking_queue_bytes(p, 5000, 0.01 / 195_000)
        measured = fmean(run(case, seed=seed).queues[0].mean_bytes for seed in (1, 2, 3))
        name = f"dcqcn_fixed_point_{flows}to1_40g"
        yield check(name, "mean queue bytes").near(measured, expected, 0.15)


def go_back_n() -> Iterator[ValidationRow]:
    """Random loss at rates and delays no reference run has."""
    for gigabit, delay_us, p in ((50, 2, 0.002), (10, 10, 0.005)):
        case = like_reference(
            1, gigabit, delay=f"{delay_us / 1000}ms", loss=p, duration_ms=100, warmup_ms=0
        )
        case = case.model_copy(
            update={"flows": [f.model_copy(update={"nack_repeat_us": 60}) for f in case.flows]}
        )
        rate = gigabit * 1.25e8
        k = formulas.frames_per_loss(rate, delay_us * 1e-6, 1000, 60)
        expected = formulas.go_back_n_efficiency(p, k, 60e-6 * rate / 1000)
        measured = fmean(run(case, seed=s).total_goodput_gbit_per_s for s in (1, 2, 3))
        name = f"go_back_n_{gigabit}g_{delay_us}us_p{p:g}"
        yield check(name, "efficiency").near(measured / gigabit / 0.952, expected, 0.03)


def selective_repeat() -> Iterator[ValidationRow]:
    """Random loss, selective repeat: each packet is sent 1 / (1 - p) times, so 1 - p is goodput."""
    for gigabit, p in ((25, 0.001), (25, 0.01), (25, 0.05), (100, 0.01)):
        flow = {"source": "h1", "target": "r", "recovery": "selective", "nack_repeat_us": 30}
        case = linked({"h1-s1": gigabit, "r-s1": gigabit}, [flow], cable={"length_m": 20.0})
        lossy = [case.links[0].model_copy(update={"loss": p}), *case.links[1:]]
        case = case.model_copy(update={"links": lossy, "duration_ms": 50.0})
        measured = fmean(run(case, seed=s).total_goodput_gbit_per_s for s in (1, 2, 3))
        row = check(f"selective_repeat_{gigabit}g_p{p:g}", "efficiency")
        yield row.near(measured / (gigabit * 1024 / 1106), 1 - p, 0.003)


QUICK: tuple[Family, ...] = (
    frame_time,
    selective_repeat,
    thresholds,
    pause_periods,
    headroom_cells,
    time_outs,
)
SLOW: tuple[Family, ...] = (random_arrivals, fixed_points, go_back_n)

NOT_MODELLED: tuple[tuple[str, str], ...] = ()
"""What the project wants of its network and the network does not have, by name."""
