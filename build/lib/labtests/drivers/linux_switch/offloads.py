"""`ethtool -k IF`: whether a port hands on several packets as one (GRO, LRO, TSO, GSO).

Such a packet is up to 64 KiB. A queue counts its segments when it lets it out, and one when it
drops it (net/core/gen_stats.c, bstats_update; net/sched), so sent = forwarded + dropped does not
hold for TCP then.
"""

import re

from labtests.drivers.answers import expect_success
from labtests.drivers.linux.ethtool import ETHTOOL
from labtests.drivers.parsing import incomplete, matches
from labtests.transport.commands import Shell, program
from labtests.transport.protocol import Reply

MERGING = {
    "tcp-segmentation-offload": "tso",
    "generic-segmentation-offload": "gso",
    "generic-receive-offload": "gro",
    "large-receive-offload": "lro",
}

_HEAD = re.compile(r"^Features for (\S+):$")
_FEATURE = re.compile(
    r"^\t*([a-z0-9_-]+): (on|off)(?: \[(?:fixed|requested on|requested off|not requested)\])?\s*$"
)


def features_command(interface: str) -> Shell:
    """Reads what an interface does with packets."""
    return program("ethtool", "-k", interface)


def parse_merging(reply: Reply) -> frozenset[str]:
    """Which of them are on, by the names that `ethtool -K` has for them."""
    expect_success(reply, ETHTOOL)
    found = {
        line[1]: line[2] == "on" for line in matches(reply, _HEAD, _FEATURE) if line.re is _FEATURE
    }
    if missing := sorted(set(MERGING) - set(found)):
        incomplete(reply, f"there is no line {missing[0]!r}")
    return frozenset(short for name, short in MERGING.items() if found[name])
