"""Comware switches (H3C and HPE): views of text in, records out.

`parse_*` functions are pure and refuse what they do not know.
"""

from labtests.drivers.comware.clock import parse_clock
from labtests.drivers.comware.configuration import parse_configuration
from labtests.drivers.comware.driver import KIND, SESSION, driver_of
from labtests.drivers.comware.drops import parse_packet_drop
from labtests.drivers.comware.interfaces import parse_interface
from labtests.drivers.comware.lldp import parse_lldp_neighbors
from labtests.drivers.comware.maps import parse_map_table
from labtests.drivers.comware.pfc import parse_priority_flow_control
from labtests.drivers.comware.queues import parse_queue_statistics
from labtests.drivers.comware.scheduling import parse_queue_schedule
from labtests.drivers.comware.trust import parse_qos_trust
from labtests.drivers.comware.versions import parse_version
from labtests.drivers.comware.wred import parse_qos_wred_interface, parse_qos_wred_table

__all__ = [
    "KIND",
    "SESSION",
    "driver_of",
    "parse_clock",
    "parse_configuration",
    "parse_interface",
    "parse_lldp_neighbors",
    "parse_map_table",
    "parse_packet_drop",
    "parse_priority_flow_control",
    "parse_qos_trust",
    "parse_qos_wred_interface",
    "parse_qos_wred_table",
    "parse_queue_schedule",
    "parse_queue_statistics",
    "parse_version",
]
