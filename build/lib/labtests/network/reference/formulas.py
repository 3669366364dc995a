"""Closed forms that a lossless Ethernet obeys. Bytes, seconds and bytes per second throughout."""

import math


def threshold_queue_bytes(alpha: float, shared: float, ports: int, reserve: float) -> float:
    """Queue of N paused ingress groups: N (alpha B / (1 + alpha N) + r).

    Choudhury, Hahne: Dynamic queue length thresholds (ToN 1998).
    """
    return ports * (alpha * shared / (1 + alpha * ports) + reserve)


def headroom_bound_bytes(rate: float, delay_s: float, frame: float) -> float:
    """Most that may arrive after an xoff with no response time: 2 R d + 2 frames (802.1Qbb)."""
    return 2 * rate * delay_s + 2 * frame


def pause_period_s(rate: float, delay_s: float, hysteresis: float, frame: float) -> float:
    """Between two xoffs of one port, two senders in step: 4 (xoff - xon + 2 R d + frame/2) / R."""
    return 4 * (hysteresis + 2 * rate * delay_s + frame / 2) / rate


def on_off_period_s(
    rates: tuple[float, float],
    delay_s: float,
    hysteresis: float,
    frame: float,
    response_s: float = 0.0,
) -> float:
    """Between two xoffs of a buffer that fills at R and drains at r; rates: (R, r).

    It rises by R - r and falls by r, between xon and xoff and beyond both by what goes on during
    there and back, response and half a frame: (xoff - xon + 2 R d + R t_r + frame/2) R / (r (R-r)).
    pause_period_s is that for r = R / 2.
    """
    rate, drain = rates
    swing = hysteresis + 2 * rate * delay_s + rate * response_s + frame / 2
    return swing * rate / (drain * (rate - drain))


def quantum_s(bits_per_s: float) -> float:
    """A pause quantum: 512 bit times (IEEE 802.3 31B)."""
    return 512 / bits_per_s


def frames_per_loss(rate: float, delay_s: float, frame: float, ack: float) -> float:
    """Frames from a lost one to the return of its NACK through one switch: (RTT + t) / t."""
    t, t_ack = frame / rate, ack / rate
    return (4 * delay_s + 2 * t + 2 * t_ack + t) / t


def go_back_n_efficiency(p: float, k: float, repeat_frames: float = 0.0) -> float:
    """Share of the rate that is goodput: 1 / (1 + p / (1 - p) (K + 2 p t_n / t)).

    `repeat_frames`: t_n / t, the NACK repeat time in frames; a lost NACK, or a lost retransmission,
    waits for it.
    """
    return 1 / (1 + p / (1 - p) * (k + 2 * p * repeat_frames))


def go_back_0_efficiency(p: float, k: float, frames: int) -> float:
    """Go-back-0 with messages of so many frames: M / (A / p + A (K - 1)), A = (1-p)^-M - 1."""
    attempts = math.expm1(-frames * math.log1p(-p))
    return frames / (attempts / p + attempts * (k - 1))


def md1_wait_s(load: float, service_s: float) -> float:
    """Mean wait of an M/D/1 queue: rho s / (2 (1 - rho)) (Pollaczek, Khinchine)."""
    return load * service_s / (2 * (1 - load))


def retransmission_s(exponent: int) -> float:
    """An RC queue pair's time-out: 4.096 us * 2**exponent (InfiniBand specification 9.7.6.1.3)."""
    return 4.096e-6 * float(1 << exponent)


def dcqcn_marking(
    flows: float, bits_per_s: float, packet: int, *, increase_bits_per_s: float
) -> float:
    """The marking probability at which N equal DCQCN flows fill a link.

    Fixed point of the fluid model (Zhu et al., SIGCOMM 2015, eqs 5-9), timers only: cuts each 50
    us, alpha and increase each 55 us, five stages of fast recovery. Found by bisection.
    """
    tau, period, stages = 50e-6, 55e-6, 5
    rate = bits_per_s / 8 / packet / flows
    step = increase_bits_per_s / 8 / packet

    def excess(p: float) -> float:
        log = math.log1p(-p)
        cut, alpha = -math.expm1(tau * rate * log), -math.expm1(period * rate * log)
        power = -period * rate * log
        events = p / math.expm1(power) if power < 700 else 0.0
        additive = math.exp(stages * period * rate * log) * events
        return cut * cut * alpha - tau * tau * step * rate * events * additive

    low, high = 1e-12, 1 - 1e-9
    for _ in range(200):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if excess(middle) < 0 else (low, middle)
    return low


def marking_queue_bytes(p: float, low: float, slope_per_byte: float) -> float:
    """The queue length at which a RED line marks with probability p."""
    return low + p / slope_per_byte


def loop_drain(switches: int, rate: float, ttl: int) -> float:
    """Most that a routing loop of n switches can drop by TTL: n B / TTL, in the unit of `rate`.

    More than that into a lossless loop makes a deadlock (Hu et al., Deadlocks in Datacenter
    Networks, HotNets 2016).
    """
    return switches * rate / ttl


def next_poll(time: float, period: float, phase: float) -> float:
    """The first of the polls at phase + n periods that is not before `time`."""
    return phase + math.ceil((time - phase) / period) * period
