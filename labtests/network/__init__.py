"""A packet-level network in integer picoseconds: hosts, NICs, switches, cables and the flows on
them.

The physics, bottom up: tables, rows (the state; as the compiler sees it: columns); events, packets
(calendar, pool); impairments, wire (cables); memory, marking, scheduling, shaping, pause_frames,
pausing, link_pausing, forwarding, switching, guarding (the switch); dcqcn, reaction, congestion,
notifying, go_back_n, selective_repeat, recovery, reliable, datagrams, streams, tunnels, receiving,
hosting (the NIC); arrivals, timers, engine (the loop). A part of what happens needs no event:
silent frames (wire), planned packets (planning), stops (stops). Each function is compiled by numba,
and runs undecorated with LABTESTS_INTERPRETED=1.
Around it: wiring, settings, fabric (tables from a wiring), and what others use: Network, Nic,
Switch and the flows.
"""

from labtests.core.headroom import headroom_for
from labtests.network.faulty_links import Script
from labtests.network.flow_control import FlowControl
from labtests.network.memory_settings import (
    GroupMemory,
    SwitchMemory,
)
from labtests.network.network import Network
from labtests.network.nic import Nic
from labtests.network.paths import Routing, StaticRoute, Tunnel
from labtests.network.pause_settings import (
    LinkPause,
    PauseTiming,
    ReceiveBuffer,
    longest_response_ns,
)
from labtests.network.requests import OuterHeaders, RcRequest, TcpRequest, UdpRequest
from labtests.network.settings import (
    EdgeClass,
    NicCounters,
    PfcCounters,
    PortCounters,
    PortDrops,
    QueueCounters,
    RateLimit,
    ReactionPoint,
    Schedule,
    WredCurve,
)
from labtests.network.switch import Switch
from labtests.network.traffic import RcFlow, TcpFlow, UdpFlow
from labtests.network.watchdog import (
    DeadlockDetection,
    GuardCounters,
    Mistimed,
    PauseTimeout,
    PfcWatchdog,
)
from labtests.network.watching import QueueWatch
from labtests.network.wiring import Cable, HostPort, SwitchPort, Wiring

__all__ = [
    "Cable",
    "DeadlockDetection",
    "EdgeClass",
    "FlowControl",
    "GroupMemory",
    "GuardCounters",
    "HostPort",
    "LinkPause",
    "Mistimed",
    "Network",
    "Nic",
    "NicCounters",
    "OuterHeaders",
    "PauseTimeout",
    "PauseTiming",
    "PfcCounters",
    "PfcWatchdog",
    "PortCounters",
    "PortDrops",
    "QueueCounters",
    "QueueWatch",
    "RateLimit",
    "RcFlow",
    "RcRequest",
    "ReactionPoint",
    "ReceiveBuffer",
    "Routing",
    "Schedule",
    "Script",
    "StaticRoute",
    "Switch",
    "SwitchMemory",
    "SwitchPort",
    "TcpFlow",
    "TcpRequest",
    "Tunnel",
    "UdpFlow",
    "UdpRequest",
    "Wiring",
    "WredCurve",
    "headroom_for",
    "longest_response_ns",
]
