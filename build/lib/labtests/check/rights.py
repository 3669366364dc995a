"""Whether a login may do more than labtests needs: a note, since it hinders nothing.

What is needed is in docs/security.md, `Rights on a host`.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Literal

from labtests.check.finding import CheckFinding, Subject, Unknown
from labtests.core.errors import DeviceError
from labtests.drivers import driver_module
from labtests.drivers.linux.host import RIGHTS
from labtests.inventory import Device
from labtests.transport.asking import Asking, ask
from labtests.transport.commands import program
from labtests.transport.ssh.connecting import SHELL

Rights = Literal["root", "all", "some"]
_LISTED = program("sudo", "-n", "-l")
# `    (ALL : ALL) NOPASSWD: ALL`, `(root) NOPASSWD: SETENV: ALL`, `(ALL) NOPASSWD: /bin/ls, ALL`
_EVERYTHING = re.compile(r"^[ \t]++\([^)\n]*+\) (?:.*[:,] )?ALL$", re.MULTILINE)
_TOLD: Mapping[str, str] = {
    "root": "the login is root there, which is more than labtests needs",
    "all": "sudo grants this login everything there, which is more than labtests needs",
}
_REMEDY = (
    "an account of its own with `become: commands` and the rules of docs/security.md (`Rights on a "
    "host`) can do what is needed, and nothing else"
)


def rights(device: Device) -> Asking[Rights | Unknown | None]:
    """What the login of a host may do there; None of a device that has no shell."""
    if driver_module(device.platform).SESSION != SHELL:
        return None
    become = device.management.become
    if become is True:
        return "all"
    try:
        if become == "commands":
            listed = yield from ask(_LISTED)
            return "all" if _EVERYTHING.search(listed.text) else "some"
        return "root" if (yield from ask(RIGHTS)).text.strip() == "0" else "some"
    except DeviceError as error:
        return Unknown(why=error.problem)


def notes(known: Mapping[str, Rights | Unknown | None]) -> Iterator[CheckFinding]:
    """One for each login that may do more than it must."""
    for device, found in known.items():
        if isinstance(found, Unknown):
            why = f"cannot determine what the login may do: {found.why}"
            yield Subject("rights", device).says("note", why)
        elif found is not None and found in _TOLD:
            yield Subject("rights", device).says("note", _TOLD[found], _REMEDY)
