"""Before labtests goes where a file says that nobody named: where, as whom, with which secrets,
under which lease."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from labtests.core.errors import LabError
from labtests.inventory import Device, Testbed
from labtests.journal.known import is_strange_lease, strange, whole_before
from labtests.lease.holding import lease_host

Agree = Callable[[str], bool]


class NotAgreed(LabError):
    """A file leads where no testbed file of this user does, and nobody has agreed to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What leads there: in words, and by which testbed file, as it says."""

    what: str
    file: str


def expect_yes(
    source: Source, led: Testbed, agree: Agree | None, *, named: Testbed | None = None
) -> None:
    """A person has agreed to where it leads, and to the lease under which it is done, or a testbed
    file that this user named has said so: `named`, or one before. Raises NotAgreed, LabError."""
    known = () if named is None else named.devices
    told = [way(d) for d in strange([d for d in led.devices if d not in known], source.file)]
    if named is None:
        told += _lease(led, source)
    if not told:
        return
    text = "\n".join([f"{source.what} leads to", *(f"  {line}" for line in told)])
    if agree is None or not agree(text):
        raise NotAgreed(
            f"{text}\nnobody has agreed to that, so nothing is done\n"
            "  remedy: name the testbed file yourself (--testbed FILE), or say --yes"
        )


def _lease(led: Testbed, source: Source) -> Iterator[str]:
    """Where it says that the lease is kept, unless that is known."""
    on = lease_host(led)
    if whole_before(source.file, led.devices, led.lease) is not None:
        return
    if not is_strange_lease(led.devices, led.lease, on):
        return
    if led.lease is None or on is None:
        yield "no lease: whether somebody else has the lab is not asked"
        return
    yield f"the lease in {led.lease.path} of {on.name}, which is made where it is not there"


def way(device: Device) -> str:
    """How a device would be reached, without any secret."""
    reached = device.management
    user = f"{reached.user}@" if reached.user else "(user of ssh_config)@"
    more = [
        f"through {reached.jump}" if reached.jump else "",
        f"with the password in {reached.password_env}" if reached.password_env else "",
        f"with the key {reached.key_file}" if reached.key_file else "",
        "with sudo" if reached.become else "",
        "whatever its host key" if reached.host_keys == "accept-new" else "",
        f"host keys in {reached.known_hosts}" if reached.known_hosts else "",
    ]
    where = f"{device.name}: {user}{reached.host}:{reached.port}"
    return ", ".join([where, *(text for text in more if text)])
