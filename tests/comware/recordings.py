"""The recordings under tests/transcripts/comware, and who reads them.

`<parser>.<label>.txt` is read by PARSERS[<parser>]; `<parser>.<label>.expected` is what it says.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "transcripts"))

from platform_recordings import PlatformRecordings, label

from labtests.drivers.comware import (
    box,
    dcbx,
    interfaces,
    maps,
    marking,
    pfc,
    queues,
    scheduling,
    session,
)

__all__ = [
    "ALL",
    "FOLDER",
    "PARSERS",
    "RECORDINGS",
    "is_read",
    "label",
    "load",
    "parser_of",
    "rendered",
]
FOLDER = Path(__file__).parents[1] / "transcripts" / "comware"
RECORDINGS = sorted(FOLDER.glob("*.txt"))
PARSERS = {
    "clock": box.parse_clock,
    "configuration": session.parse_configuration,
    "dcbx_told": dcbx.parse_dcbx_told,
    "interface": interfaces.INTERFACE.read,
    "lldp_neighbors": box.parse_lldp_neighbors,
    "map_table": maps.parse_map_table,
    "packet_drop": queues.DROPS.read,
    "priority_flow_control": pfc.PORTS.read,
    "qos_trust": maps.TRUSTED.read,
    "qos_wred_interface": marking.APPLIED.read,
    "qos_wred_table": marking.parse_qos_wred_table,
    "queue_schedule": scheduling.SCHEDULERS[0].read,
    "queue_statistics": queues.QUEUES.read,
    "version": box.parse_version,
}

ALL = PlatformRecordings(FOLDER, PARSERS)
load, parser_of, rendered, is_read = ALL.load, ALL.parser_of, ALL.rendered, ALL.is_read
