"""Changes that went with their lab: what a run that died left on boxes that are no more."""

from collections.abc import Callable
from ipaddress import IPv4Address, IPv4Network

from labtests.journal import Unfinished, unfinished_runs
from labtests.linuxlab.ledger import Ledger


def drop_moot(ledger: Ledger, say: Callable[[str], None]) -> None:
    """Runs of this lab that died are registered no more: its boxes are removed, or not yet made.

    A run is this lab's by the testbed's name and by addresses that all lie in its management
    network. One that lives, or may, is left alone. Raises LabError when they cannot be read."""
    for run in unfinished_runs():
        if _is_of(ledger, run) and run.state == "dead":
            run.remove()
            say(
                f"run {run.run} ({run.testbed}) did not end properly: "
                "what it changed went with the lab, so nothing is to be put back"
            )


def _is_of(ledger: Ledger, run: Unfinished) -> bool:
    if run.simulated or run.testbed != ledger.name or not ledger.network or not run.addresses:
        return False
    network = IPv4Network(ledger.network)
    return all(_inside(network, place) for place in run.addresses)


def _inside(network: IPv4Network, place: str) -> bool:
    try:
        return IPv4Address(place.rpartition(":")[0]) in network
    except ValueError:
        return False
