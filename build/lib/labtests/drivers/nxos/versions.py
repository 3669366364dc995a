"""`show version`: what the switch is and runs."""

import re

from labtests.capabilities.device import Versions
from labtests.drivers.nxos.session import NxosPart, show
from labtests.drivers.parsing import kept, refuse, whole_lines
from labtests.transport.asking import Asking
from labtests.transport.protocol import Reply

_SOFTWARE = re.compile(r"\s*(?:NXOS|system):\s+version (?P<version>\S+)")
_MODEL = re.compile(r"\s*cisco (?P<model>\S.*?) [Cc]hassis\b")


def parse_version(reply: Reply) -> dict[str, str]:
    """`model` and `nxos`; "" where the switch does not say the first. The rest is licences, images
    and times, and is not read."""
    found = {"model": "", "nxos": ""}
    for text in whole_lines(reply):
        if not found["nxos"] and (match := _SOFTWARE.match(text)):
            found["nxos"] = match["version"]
        elif not found["model"] and (match := _MODEL.match(text)):
            found["model"] = match["model"]
    if not found["nxos"]:
        refuse(reply, "there is no line `NXOS: version ...`")
    return {name: kept(reply, text, f"the version of {name}") for name, text in found.items()}


class NxosVersions(NxosPart, Versions):
    """What the switch runs."""

    def versions(self) -> Asking[dict[str, str]]:
        """`model` and `nxos`."""
        return parse_version((yield from show("version")))
