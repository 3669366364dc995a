"""The recordings under tests/transcripts/nxos, and who reads them.

`<parser>.<label>.txt` is read by PARSERS[<parser>]; `<parser>.<label>.expected` is what it says.
"""

import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "transcripts"))

from platform_recordings import PlatformRecordings

from labtests.drivers.nxos import box, configuration, interfaces, logfile, pfc, queuing, watchdog

FOLDER = Path(__file__).parents[1] / "transcripts" / "nxos"
CLOCK = "18:57:38.347 UTC Mon Oct 19 2015\n"


def with_the_clock(reply):
    """A configuration as labtests asks for it: with `show clock` behind it, which recordings of it
    do not have."""
    behind = CLOCK if reply.text.endswith("\n") else ""
    return configuration.parse_configuration(replace(reply, text=reply.text + behind))


def watched(reply):
    """The watchdog's times, and each port."""
    times, ports = watchdog.parse_pfc_queue(reply)
    return {"times": times, **ports}


def with_the_end(reply):
    """A log as labtests asks for it: with the number of lines and the clock behind it, which the
    recording does not have."""
    behind = "12\n18:57:38.347 UTC Wed Aug 18 2021\n" if reply.text.endswith("\n") else ""
    if "PFCWD" in reply.text:
        reply = replace(reply, text=reply.text + behind)
    log = logfile.read_log(reply)
    return {"messages": log.messages, "unread": log.unread}


PARSERS = {
    "clock": box.parse_clock,
    "configuration": with_the_clock,
    "interface": interfaces.INTERFACE.read,
    "lldp": box.parse_lldp_neighbors,
    "pfc_detail": pfc.parse_pfc_detail,
    "pfc_queue": watched,
    "pfc_queue_detail": watchdog.PFC_QUEUE_DETAIL.read,
    "queuing": queuing.QUEUING.read,
    "version": box.parse_version,
    "watchdog_log": with_the_end,
}
ALL = PlatformRecordings(FOLDER, PARSERS, shared=True)
