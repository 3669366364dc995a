"""What is wrong with the pauses of a case."""

from collections.abc import Iterator

from labtests.core.headroom import RESPONSE_QUANTA
from labtests.inventory.mistakes import Mistakes
from labtests.inventory.mistakes import Path as Where
from labtests.network.cases.device_form import NicPart, PortPart
from labtests.network.cases.form import CaseFile, switch_parts
from labtests.network.cases.pathways import check_known, ports_of
from labtests.network.cases.pauses import link_pause, receive_buffer


def check_pauses(case: CaseFile, mistakes: Mistakes) -> None:
    """Notes storms of what is not there, and response times that cannot be."""
    _check_storms(case, mistakes)
    _check_slow_receivers(case, mistakes)
    _check_timing(case, mistakes)
    _check_link_pauses(case, mistakes)
    _check_thresholds(case, mistakes)


def _check_storms(case: CaseFile, mistakes: Mistakes) -> None:
    for number, storm in enumerate(case.storms):
        path: Where = ("storms", number)
        check_known(storm.device, {*case.hosts, *case.switches}, (*path, "device"), mistakes)
        if storm.device in case.switches:
            check_known(storm.port or "", ports_of(case, storm.device), (*path, "port"), mistakes)
        elif storm.port is not None:
            mistakes.add((*path, "port"), "a host has one port: leave it out")
        if storm.stop_us is not None and storm.stop_us <= storm.start_us:
            mistakes.add((*path, "stop_us"), "must be later than start_us")


def _check_slow_receivers(case: CaseFile, mistakes: Mistakes) -> None:
    for number, slow in enumerate(case.slow_receivers):
        path: Where = ("slow_receivers", number)
        check_known(slow.host, case.hosts, (*path, "host"), mistakes)
        if slow.stop_us is not None and slow.stop_us <= slow.start_us:
            mistakes.add((*path, "stop_us"), "must be later than start_us")


def _parts(case: CaseFile) -> Iterator[tuple[Where, NicPart | PortPart, NicPart | PortPart]]:
    """Every settings part that is given, and what holds there where it says nothing."""
    yield ("nic",), case.nic, NicPart()
    yield ("switch",), case.switch, PortPart()
    for name, host in case.hosts.items():
        if host is not None:
            yield ("hosts", name), host, case.nic
    for name, switch in case.switches.items():
        if switch is not None:
            yield ("switches", name), switch, case.switch
    for where, own in switch_parts(case):
        above = PortPart(
            pfc=case.switch.pfc if own.pfc is None else own.pfc,
            link_pause=own.link_pause or case.switch.link_pause,
        )
        for port, part in (own.ports or {}).items():
            yield (*where, "ports", port), part, above


def _check_link_pauses(case: CaseFile, mistakes: Mistakes) -> None:
    """PFC and 802.3x are not on the same port. An empty `pfc` turns PFC off."""
    for path, part, above in _parts(case):
        pfc = above.pfc if part.pfc is None else part.pfc
        if part.link_pause is not None and pfc:
            mistakes.add((*path, "link_pause"), "excludes pfc on the same port: set pfc to []")
        elif part.link_pause is None and part.pfc and above.link_pause is not None:
            mistakes.add((*path, "pfc"), "excludes link_pause, which is on here")


def _check_thresholds(case: CaseFile, mistakes: Mistakes) -> None:
    """Thresholds by which a port could never stop its peer, or never let it go on."""
    for path, part, _ in _parts(case):
        try:
            if part.link_pause is not None:
                link_pause(part.link_pause)
        except ValueError as error:
            mistakes.add((*path, "link_pause"), str(error))
        try:
            if isinstance(part, NicPart) and part.receive is not None:
                receive_buffer(part.receive)
        except ValueError as error:
            mistakes.add((*path, "receive"), str(error))


def _check_timing(case: CaseFile, mistakes: Mistakes) -> None:
    """Response times that are said twice, or that the standard does not know."""
    rates = {round(link.rate_gbit_per_s) for link in case.links}
    for path, part, _ in _parts(case):
        if part.pause is None:
            continue
        where = (*path, "pause", "response_quanta")
        if part.pause.response_quanta is not None and part.pause.response_ns is not None:
            mistakes.add(where, "response_ns is given too: one of them")
        if part.pause.response_quanta == "longest" and rates - set(RESPONSE_QUANTA):
            known = ", ".join(str(rate) for rate in RESPONSE_QUANTA)
            mistakes.add(where, f"longest is known for links of {known} Gbit/s only")
