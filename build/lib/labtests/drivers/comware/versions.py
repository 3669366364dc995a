"""`display version`: what the switch is and runs."""

import re

from labtests.capabilities.device import Versions
from labtests.drivers.comware.session import ComwarePart, show
from labtests.drivers.parsing import kept, refuse, whole_lines
from labtests.transport.asking import Asking
from labtests.transport.protocol import Reply

_SOFTWARE = re.compile(
    r"^[^:]*Comware (?:Platform )?Software, (?:Software )?Version (?P<version>[\w.-]+)"
    r"(?:, (?P<release>(?:Release|Ess|Feature|Alpha|Beta|Demo|Test|ESS) \S+))?"
)
_MODEL = re.compile(r"^(?P<model>\S.*?) uptime is ")


def parse_version(reply: Reply) -> dict[str, str]:
    """`model`, `comware` (e.g. 7.1.070) and `release`; "" where the switch does not say.

    The rest of this output is boards and boot images, and is not read.
    """
    found = {"model": "", "comware": "", "release": ""}
    for line in whole_lines(reply):
        if not found["comware"] and (match := _SOFTWARE.search(line)):
            found["comware"], found["release"] = match["version"], match["release"] or ""
        elif not found["model"] and (match := _MODEL.match(line)):
            found["model"] = match["model"]
    if not found["comware"]:
        refuse(reply, "there is no line `Comware Software, Version ...`")
    return {name: kept(reply, text, f"the version of {name}") for name, text in found.items()}


class ComwareVersions(ComwarePart, Versions):
    """What the switch runs."""

    def versions(self) -> Asking[dict[str, str]]:
        """`model`, `comware` and `release`."""
        return parse_version((yield from show("display", "version")))
