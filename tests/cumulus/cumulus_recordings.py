"""The recordings under tests/transcripts/cumulus, and who reads them.

`<parser>.<label>.txt` is read by PARSERS[<parser>]; `<parser>.<label>.expected` is what it says.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "transcripts"))

from platform_recordings import PlatformRecordings

from labtests.drivers.cumulus import driver, interfaces, profiles, queues, roce, watchdog

FOLDER = Path(__file__).parents[1] / "transcripts" / "cumulus"
PARSERS = {
    "counters": queues.parse_counters,
    "link": interfaces.parse_link,
    "lldp": driver.parse_lldp,
    "pending": profiles.parse_pending,
    "port": profiles.parse_port,
    "qos": profiles.parse_qos,
    "roce": roce.parse_roce,
    "roce-counters": roce.parse_roce_counters,
    "roce-status": roce.parse_roce_status,
    "watchdog": watchdog.parse_watchdog,
}
ALL = PlatformRecordings(FOLDER, PARSERS)
