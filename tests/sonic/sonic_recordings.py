"""The recordings under tests/transcripts/sonic, and who reads them.

`<parser>.<label>.txt` is read by PARSERS[<parser>]; `<parser>.<label>.expected` is what it says.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "transcripts"))

from platform_recordings import PlatformRecordings

from labtests.drivers.sonic import counters, database, driver, interfaces, watermarks

FOLDER = Path(__file__).parents[1] / "transcripts" / "sonic"
PARSERS = {
    "counters": counters.parse_counters,
    "group_drops": counters.parse_group_drops,
    "lldp": driver.parse_lldp,
    "pfc_counters": counters.parse_pfc_counters,
    "queue_counters": counters.parse_queue_counters,
    "status": interfaces.parse_status,
    "table": database.parse_table,
    "version": driver.parse_version,
    "watchdog_stats": counters.parse_stats,
    "watermarks": watermarks.parse_watermarks,
    "wred_counters": counters.parse_wred_counters,
}
ALL = PlatformRecordings(FOLDER, PARSERS)
