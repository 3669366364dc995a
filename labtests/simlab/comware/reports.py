"""What `display interface`, `brief`, `clock` and `version` print, from values."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from labtests.network import PortCounters
from labtests.simlab.comware.displays import lines
from labtests.simlab.comware.interfaces import short_name
from labtests.simlab.comware.statistics import RATE_WINDOW_S
from labtests.simlab.defects import LAB_EPOCH

MODEL = "S6550XE-56HF-HI"


def moment(now_s: float) -> datetime:
    """The switch's clock after so much simulated time."""
    return LAB_EPOCH + timedelta(seconds=now_s)


def clock(time: datetime) -> str:
    """`display clock` (ntc-templates, hp_comware, verbatim)."""
    return lines(f"{time:%H:%M:%S UTC %a %m/%d/%Y}")


def version(uptime_s: float) -> str:
    """`display version`: the lines that Comware 7 begins with. The release says what it is."""
    minutes = int(uptime_s) // 60
    hours, days = minutes // 60, minutes // 1440
    return lines(
        "H3C Comware Software, Version 7.1.070, Release SIMULATED",
        "Copyright (c) 2004-2024 New H3C Technologies Co., Ltd. All rights reserved.",
        f"H3C {MODEL} uptime is {days // 7} weeks, {days % 7} days, {hours % 24} hours, "
        f"{minutes % 60} minutes",
        "Last reboot reason : Cold reboot",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """A row of `display interface brief`, bridge mode."""

    port: str
    link: str  # UP, DOWN or ADM
    speed: str
    duplex: str
    description: str


_BRIEF_TITLE = """\
Brief information on interfaces in bridge mode:
Link: ADM - administratively down; Stby - standby
Speed: (a) - auto
Duplex: (a)/A - auto; H - half; F - full
Type: A - access; T - trunk; H - hybrid
Interface            Link Speed     Duplex Type PVID Description
"""


def brief(rows: list[Brief]) -> str:
    """`display interface brief` (ntc-templates, hp_comware release 60615P16, verbatim)."""
    return _BRIEF_TITLE + lines(
        *(
            (
                f"{short_name(row.port):<21}{row.link:<5}{row.speed:<10}{row.duplex:<7}"
                f"A    1    {row.description}"
            ).rstrip()
            for row in rows
        )
    )


def short_speed(bits_per_s: int) -> str:
    """As tables abbreviate a rate: 10G, 100M."""
    megabits = bits_per_s // 1_000_000
    return f"{megabits // 1000}G" if megabits % 1000 == 0 else f"{megabits}M"


@dataclass(frozen=True, slots=True, kw_only=True)
class Interface:
    """What `display interface …` says of one port."""

    port: str
    state: str  # UP, DOWN or Administratively DOWN
    hardware_address: str
    description: str
    rate_bits_per_s: int
    traffic: PortCounters
    per_s: PortCounters
    crc_errors: int = 0
    frame_bytes: int = 10_000


def interface(shown: Interface) -> str:
    """`display interface …` (ntc-templates, hp_comware display_interface12); the media is ours."""
    line = "UP" if shown.state == "UP" else "DOWN"
    if shown.state == "UP":
        speed = f"{shown.rate_bits_per_s // 1_000_000}Mbps-speed mode, full-duplex mode"
    else:
        speed = "Unknown-speed mode, unknown-duplex mode"
    return lines(
        shown.port,
        f"Current state: {shown.state}",
        f"Line protocol state: {line}",
        f"IP packet frame type: Ethernet II, hardware address: {shown.hardware_address}",
        f"Description: {shown.description}",
        f"Bandwidth: {shown.rate_bits_per_s // 1000} kbps",
        "Loopback is not set",
        "Media type is stack wire, port hardware type is STACK_SFP28_PLUS",
        speed,
        "Link speed type is autonegotiation, link duplex type is autonegotiation",
        "Flow-control is not enabled",
        f"Maximum frame length: {shown.frame_bytes}",
        "Allow jumbo frames to pass",
        "Broadcast max-ratio: 100%",
        "Multicast max-ratio: 100%",
        "Unicast max-ratio: 100%",
        "PVID: 1",
        "MDI type: Automdix",
        "Port link-type: Access",
        " Tagged VLANs:   None",
        " Untagged VLANs: 1",
        "Port priority: 0",
        "Last clearing of counters: Never",
        *_rates(shown),
        *_totals(shown.traffic, shown.crc_errors),
    )


def _rates(shown: Interface) -> list[str]:
    capacity = max(shown.rate_bits_per_s // 8, 1)
    return [
        f" Last {RATE_WINDOW_S} seconds {word}: {packets} packets/sec {octets} bytes/sec "
        f"{100 * octets // capacity}%"
        for word, packets, octets in (
            ("input", shown.per_s.rx_packets, shown.per_s.rx_bytes),
            ("output", shown.per_s.tx_packets, shown.per_s.tx_bytes),
        )
    ]


def _totals(traffic: PortCounters, crc_errors: int) -> list[str]:
    received, sent = traffic.rx_packets, traffic.tx_packets
    return [
        f" Input (total):  {received} packets, {traffic.rx_bytes} bytes",
        f"         {received} unicasts, 0 broadcasts, 0 multicasts, 0 pauses",
        f" Input (normal):  {received} packets, - bytes",
        f"         {received} unicasts, 0 broadcasts, 0 multicasts, 0 pauses",
        f" Input:  {crc_errors} input errors, 0 runts, 0 giants, 0 throttles",
        f"         {crc_errors} CRC, 0 frame, - overruns, 0 aborts",
        "         - ignored, - parity errors",
        f" Output (total): {sent} packets, {traffic.tx_bytes} bytes",
        f"         {sent} unicasts, 0 broadcasts, 0 multicasts, 0 pauses",
        f" Output (normal): {sent} packets, - bytes",
        f"         {sent} unicasts, 0 broadcasts, 0 multicasts, 0 pauses",
        " Output: 0 output errors, - underruns, - buffer failures",
        "         0 aborts, 0 deferred, 0 collisions, 0 late collisions",
        "         0 lost carrier, - no carrier",
    ]
