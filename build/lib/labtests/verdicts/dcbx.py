"""Did hosts take over the lossless priorities that their switch ports tell by DCBX?

Told is what the switch port displays of itself, in force is what each end displays of its PFC, and
what the switch hears of the host is a second witness of that. Nothing is said where one is missing.
"""

from collections.abc import Iterable, Iterator

from labtests.capabilities.facts import DcbxState
from labtests.measure.evidence import Evidence
from labtests.verdicts.outcome import (
    Fact,
    Finding,
    Verdict,
    conclude,
    disagreement,
    failed,
    passed,
    unproven,
)


def agreed_by_dcbx(evidence: Evidence, priorities: Iterable[int]) -> Verdict:
    """Every switch port tells PFC on exactly these, and it is in force at both ends, which the host
    has from its switch and not from its OS."""
    wanted = frozenset(priorities)
    return conclude(
        f"Is PFC on {_named(wanted)} in force where it is told by DCBX?",
        evidence,
        _agreed(evidence, wanted),
        passing=f"PFC on {_named(wanted)} is told by each switch port, and in force at both ends",
        remedy="give the switch ports the priorities that the hosts need and let these take them "
        "over, or let nobody take anything over and give both ends the same",
    )


def _agreed(evidence: Evidence, wanted: frozenset[int]) -> Iterator[Finding]:
    read = {(h.device, h.port, s.device, s.port) for h, s in evidence.dcbx}
    for place in evidence.senders:
        if (place.device, place.port, place.switch, place.switch_port) not in read:
            yield unproven(f"DCBX of {place.device} {place.port} was not read")
    if not wanted:
        yield unproven("that nothing is told proves nothing")
    for host, switch in evidence.dcbx:
        yield from _of_a_cable(host, switch, wanted)


def _of_a_cable(host: DcbxState, switch: DcbxState, wanted: frozenset[int]) -> Iterator[Finding]:
    at, nic = f"{switch.device} {switch.port}", f"{host.device} {host.port}"
    if switch.told is None or switch.in_force is None or host.in_force is None:
        unread = [each.unknown for each in (switch, host) if each.unknown]
        why = "; ".join(unread) or "not everything was shown"
        yield unproven(f"what {at} tells, and what is in force there and at {nic}: {why}")
        return
    told = switch.told.pfc
    tells = f"{at} tells PFC on {_named(told)}"
    fact = Fact(
        name=f"priorities told by {at} and not in force at {nic}, or the other way round",
        measured=len(told ^ host.in_force),
        bound="= 0",
        unit="priorities",
        note=f"told {_named(told)}, in force {_named(host.in_force)}",
    )
    if told != host.in_force:
        yield failed(f"{tells}, and PFC on {_named(host.in_force)} is in force at {nic}", fact)
    elif told != wanted:
        yield failed(f"{tells}, which {nic} has in force, and {_named(wanted)} was asked for", fact)
    elif switch.in_force != told:
        yield failed(f"{tells}, and PFC on {_named(switch.in_force)} is in force there", fact)
    else:
        yield passed(fact)
    yield from _taken_over(host, switch, at, nic)


def _taken_over(host: DcbxState, switch: DcbxState, at: str, nic: str) -> Iterator[Finding]:
    """By the host, and from its switch."""
    if host.willing is not True:
        why = host.unknown or f"{host.control} controls it"
        yield unproven(f"{nic} is not known to take over what its peer tells: {why}")
    elif switch.heard is None:
        yield unproven(f"{at} hears nothing of {nic} by DCBX")
    elif switch.heard.pfc != host.in_force:
        yield disagreement(
            f"{at} hears that {nic} has PFC on {_named(switch.heard.pfc)}, and {nic} shows "
            f"{_named(host.in_force or frozenset())}"
        )


def _named(priorities: frozenset[int]) -> str:
    return ",".join(map(str, sorted(priorities))) or "none"
