"""`with holding(lab, ...)`: nobody else changes this lab meanwhile, or we stop."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from labtests.core.errors import LabError, LeaseBusy, LeaseUnwritable
from labtests.drivers import driver_module
from labtests.inventory import Device, LeasePlace, Testbed
from labtests.journal.known import remember_lease
from labtests.lab.lab import Lab
from labtests.lease.held import Gone, Held
from labtests.lease.record import me
from labtests.lease.register import Register
from labtests.transport.protocol import Clock, Transport
from labtests.transport.ssh.connecting import SHELL

LOOK_AGAIN_S = 5.0

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """How the lease is taken. `wait_s` (lab time) for who has it now; `instead_of` is a run that
    is known to be dead; `under_lock` works under the lock of the person who runs this. `testbed` is
    the whole one, where the lab has only a part of it; `handed` says that a journal says so, which
    somebody may have handed over: then this place of a lease is not remembered as a known one."""

    run: str = ""
    wait_s: float = 0.0
    instead_of: Gone | None = None
    under_lock: bool = False
    testbed: Testbed | None = None
    handed: bool = False


@contextmanager
def holding(
    lab: Lab, *, why: str, terms: Terms | None = None, say: Say | None = None
) -> Iterator[Held | None]:
    """The lab is ours; at the end it is given back, unless something is still to be undone: then
    `lab.close()` does so. Inside another `holding` of the same lab, and in a plan, nothing is done.

    None when the testbed has no lease, or says nothing of one and none can be kept, which is said.
    Raises LeaseBusy with who has it, LeaseUnusable, and DeviceError when its host does not answer.
    """
    held = None
    if lab.lease is None and lab.planned is None:
        held = _taken(lab, why, terms or Terms(), say or (lambda _: None))
    try:
        yield held
    finally:
        if held is not None and not lab.ahead.pending:
            held.give_back(left=len(lab.ahead.entries))
            lab.lease = None


def lease_host(testbed: Testbed) -> Device | None:
    """The host that keeps the lease, if any. Raises LabError for a device that cannot keep one."""
    place = testbed.lease
    if place is None:
        return None
    if place.host is None:  # never a switch, also one that has a shell
        return next((d for d in testbed.devices if driver_module(d.platform).KIND == "host"), None)
    hosts = [d for d in testbed.devices if driver_module(d.platform).SESSION == SHELL]
    if all(place.host != host.name for host in hosts):
        raise LabError(
            f"{testbed.file}: lease: {place.host} is not a Linux host, so it cannot keep the "
            "lease\n"
            f"  remedy: one of {', '.join(h.name for h in hosts) or 'a new host'}, or `lease: ~`"
        )
    return testbed.device(place.host)


def register_of(place: LeasePlace, transport: Transport) -> Register:
    """The lease's register, through an open session with its host."""
    return Register(transport, place.path)


def _taken(lab: Lab, why: str, terms: Terms, say: Say) -> Held | None:
    whole = terms.testbed or lab.testbed
    place, host = whole.lease, lease_host(whole)
    if lab.backend != "simulated" and not terms.handed:
        remember_lease(whole, host)
    if place is None or host is None:
        return None
    transport = lab.unrecorded.get(host.name)
    if transport is None:
        _without(place, LabError(f"{host.name}, which keeps it, cannot be reached"), say)
        return None
    holder = me("run", run=terms.run, why=why, expires_after_s=place.expires_after_s)
    held = Held(register_of(place, transport), holder, clock=lab.clock)
    lab.lease = held  # first: who is interrupted in the middle gives it back
    try:
        _wait_for(lab, held, terms, say)
    except LeaseUnwritable as error:
        lab.lease = None
        _without(place, error, say)
        return None
    except LabError:
        lab.lease = None
        raise
    lab.note(host.name, f"the lease is taken, in {held.register.place}")
    held.beat()
    return held


def _without(place: LeasePlace, error: LabError, say: Say) -> None:
    """A lease that the testbed file asks for is needed."""
    if not place.by_default:
        raise error
    say(f"no lease is kept, so nobody else is kept away from this lab: {error}")


def _wait_for(lab: Lab, held: Held, terms: Terms, say: Say) -> None:
    def take() -> None:
        if terms.under_lock:
            held.adopt()
        elif before := held.take(instead_of=terms.instead_of):
            say(before)

    wait_s = 0.0 if terms.under_lock else terms.wait_s
    tried_until(lab.clock.now_s() + wait_s, lab.clock, take, say)


def tried_until(deadline_s: float, clock: Clock, act: Callable[[], None], say: Say) -> None:
    """It is done; as long as somebody else has the lab, it is tried again and again, which is said
    once. Raises LeaseBusy at the deadline."""
    told = False
    while True:
        try:
            act()
            return
        except LeaseBusy as error:
            if clock.now_s() >= deadline_s:
                raise
            if not told:
                say(f"waiting: {error}")
            told = True
        clock.sleep(min(LOOK_AGAIN_S, max(deadline_s - clock.now_s(), 0.1)))
