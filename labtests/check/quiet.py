"""Checks of what grows while nothing of ours runs: errors of cables, background traffic."""

from collections.abc import Iterator

from labtests.capabilities import counters as c
from labtests.check.finding import CheckFinding, Subject, Unknown
from labtests.check.gathering import Idle
from labtests.measure.evidence import Difference

TRAFFIC = frozenset(
    {
        c.QUEUE_FORWARDED_PACKETS,
        c.QUEUE_DROPPED_PACKETS,
        c.RX_PACKETS,
        c.TX_PACKETS,
        c.RX_DISCARDED_PACKETS,
        c.PFC_RX_FRAMES,
        c.PFC_TX_FRAMES,
        c.ECN_MARKED_PACKETS,
        c.NP_ECN_MARKED_PACKETS,
        c.NP_CNP_SENT,
        c.RP_CNP_HANDLED,
        c.WRED_DROPPED_PACKETS,
        c.BUFFER_DROPPED_IN_PACKETS,
        c.BUFFER_DROPPED_OUT_PACKETS,
        c.NIC_OUT_OF_BUFFER_PACKETS,
    }
)
"""Counters that a verdict may rest on."""


def errors(idle: Idle) -> Iterator[CheckFinding]:
    """CRC errors, symbol errors and the like stand still."""
    if isinstance(idle.errors, Unknown):
        yield _unread("errors", idle.errors)
        return
    devices: dict[str, bool] = {}
    for difference in idle.errors.values():
        reading = difference.after or difference.before
        assert reading is not None
        devices.setdefault(reading.device, True)
        if difference.increase is None:
            why = f"{reading.counter}: {reading.missing or 'no number in both readings'}"
            yield _at("errors", difference).unknown(why)
            devices[reading.device] = False
        elif difference.increase:
            text = f"{reading.counter} grew by {difference.increase} in {idle.seconds:.3g} s"
            yield _at("errors", difference).says(
                "failure", text, "change the cable or clean the optics"
            )
            devices[reading.device] = False
    for name in [name for name, still in devices.items() if still]:
        yield Subject("errors", name).ok("no error counter increased")


def grown(idle: Idle) -> tuple[Difference, ...]:
    """Every counter that a phase reads as well, and that grew."""
    if isinstance(idle.counters, Unknown):
        return ()
    return tuple(difference for difference in idle.counters.values() if difference.increase)


def noise(idle: Idle) -> Iterator[CheckFinding]:
    """Background traffic, per counter. It never excuses a drop: a queue that is under test and not
    quiet makes a verdict inconclusive."""
    if isinstance(idle.counters, Unknown):
        yield _unread("noise", idle.counters)
        return
    noisy_ones = [difference for difference in grown(idle) if difference.key[4] in TRAFFIC]
    for difference in noisy_ones:
        _, _, scope, index, counter = difference.key
        where = f"{scope} {index} " if index >= 0 else ""
        yield _at("noise", difference).says(
            "warning",
            f"{where}{counter} grew by {difference.increase} in {idle.seconds:.3g} s, "
            "and nothing of labtests runs",
            "find the source, or test another queue: a verdict on this one would be inconclusive",
        )
    noisy = {difference.key[0] for difference in noisy_ones}
    for device in sorted({key[0] for key in idle.counters} - noisy):
        yield Subject("noise", device).ok(f"quiet for {idle.seconds:.3g} s")


def _unread(check: str, unknown: Unknown) -> CheckFinding:
    return Subject(check, unknown.device).says("not known", unknown.why, unknown.remedy)


def _at(check: str, difference: Difference) -> Subject:
    return Subject(check, *difference.key[:2])
