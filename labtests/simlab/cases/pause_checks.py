"""What is wrong with the pauses of a case."""

from collections.abc import Collection

from labtests.inventory.mistakes import Mistakes, nearest, quoted
from labtests.inventory.mistakes import Path as Where
from labtests.simlab.cases.form import CaseFile, NicPart, PortPart
from labtests.simlab.cases.pathways import ports_of
from labtests.simlab.network.pause_settings import RESPONSE_QUANTA


def check_pauses(case: CaseFile, mistakes: Mistakes) -> None:
    """Notes storms of what is not there, and response times that cannot be."""
    _check_storms(case, mistakes)
    _check_timing(case, mistakes)


def _check_storms(case: CaseFile, mistakes: Mistakes) -> None:
    for number, storm in enumerate(case.storms):
        path: Where = ("storms", number)
        _known(storm.device, {*case.hosts, *case.switches}, (*path, "device"), mistakes)
        if storm.device in case.switches:
            _known(storm.port or "", ports_of(case, storm.device), (*path, "port"), mistakes)
        elif storm.port is not None:
            mistakes.add((*path, "port"), "a host has one port: leave it out")
        if storm.stop_us is not None and storm.stop_us <= storm.start_us:
            mistakes.add((*path, "stop_us"), "must be later than start_us")


def _check_timing(case: CaseFile, mistakes: Mistakes) -> None:
    """Response times that are said twice, or that the standard does not know."""
    boxes: list[tuple[Where, NicPart | PortPart | None]] = [
        (("nic",), case.nic),
        (("switch",), case.switch),
        *((("hosts", name), own) for name, own in case.hosts.items()),
        *((("switches", name), own) for name, own in case.switches.items()),
    ]
    rates = {round(link.rate_gbit_per_s) for link in case.links}
    for path, part in boxes:
        if part is None or part.pause is None:
            continue
        where = (*path, "pause", "response_quanta")
        if part.pause.response_quanta is not None and part.pause.response_ns is not None:
            mistakes.add(where, "response_ns is given too: one of them")
        if part.pause.response_quanta == "longest" and rates - set(RESPONSE_QUANTA):
            known = ", ".join(str(rate) for rate in RESPONSE_QUANTA)
            mistakes.add(where, f"longest is known for links of {known} Gbit/s only")


def _known(name: str, known: Collection[str], path: Where, mistakes: Mistakes) -> None:
    if name not in known:
        mistakes.add(path, f"{quoted(name)} is not there: {nearest(name, known)}")
