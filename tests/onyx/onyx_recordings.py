"""The recordings under tests/transcripts/onyx, and who reads them.

`<parser>.<label>.txt` is read by PARSERS[<parser>]; `<parser>.<label>.expected` is what it says.
Of what queues and priorities count there is none: test_onyx_transcripts.py has its form.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "transcripts"))

from platform_recordings import PlatformRecordings

from labtests.drivers.onyx import driver, egress, interfaces, pfc, pools, qos

FOLDER = Path(__file__).parents[1] / "transcripts" / "onyx"
PARSERS = {
    "clock": driver.parse_clock,
    "congestion": egress.parse_congestion,
    "counters": interfaces.parse_counters,
    "ets": egress.parse_ets,
    "interface": interfaces.parse_interface,
    "lldp": driver.parse_lldp,
    "pfc": lambda reply: (pfc.parse_pfc(reply),),
    "pools": pools.parse_pools,
    "qos": qos.parse_qos,
    "version": driver.parse_version,
}
ALL = PlatformRecordings(FOLDER, PARSERS)
