"""Before labtests goes where a file says that nobody named: where, as whom, with which secrets."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from labtests.core.errors import LabError
from labtests.inventory import Device
from labtests.journal.known import strange

Agree = Callable[[str], bool]


class NotAgreed(LabError):
    """A file leads where no testbed file of this user does, and nobody has agreed to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What leads there: in words, and by which testbed file, as it says."""

    what: str
    file: str


def expect_yes(source: Source, devices: Sequence[Device], agree: Agree | None) -> None:
    """A person has agreed to it, or a testbed file that this user named has led there before.
    Raises NotAgreed."""
    if not (unknown := strange(devices, source.file)):
        return
    told = "\n".join([f"{source.what} leads to", *(f"  {way(device)}" for device in unknown)])
    if agree is None or not agree(told):
        raise NotAgreed(
            f"{told}\nnobody has agreed to that, so nothing is done\n"
            "  remedy: name the testbed file yourself (--testbed FILE), or say --yes"
        )


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
