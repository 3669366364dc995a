"""/proc/net/snmp and /proc/net/netstat: what the host's own IP, UDP and TCP saw (RFC 1213 names,
Linux additions).

A protocol has two lines: its name with column titles, then its name with values. Columns differ
between kernels, so they are read by title. UdpRcvbufErrors and IpReasmFails tell loss in the host
from loss in the network.
"""

import re

from labtests.capabilities import counters as c
from labtests.capabilities.readings import Reading
from labtests.drivers.answers import Tool, expect_success
from labtests.drivers.parsing import BLANK, incomplete, matches, refuse
from labtests.drivers.readings import Answered
from labtests.transport.commands import program
from labtests.transport.protocol import Reply

PROC_NET_SNMP = "/proc/net/snmp"
PROC_NET_NETSTAT = "/proc/net/netstat"
HOST_COMMANDS = (program("cat", PROC_NET_SNMP), program("cat", PROC_NET_NETSTAT))
CAT = Tool(install="install coreutils on this host")

_LINE = re.compile(r"^([A-Za-z0-9]+):(.*)$")
_VALUE = re.compile(r"-?[0-9]+")  # Tcp MaxConn is -1
_OF_SNMP = {
    ("Udp", "OutDatagrams"): (c.UDP_OUT_DATAGRAMS, "datagrams"),
    ("Udp", "InDatagrams"): (c.UDP_IN_DATAGRAMS, "datagrams"),
    ("Udp", "RcvbufErrors"): (c.UDP_RCVBUF_ERRORS, "datagrams"),
    ("Udp", "SndbufErrors"): (c.UDP_SNDBUF_ERRORS, "datagrams"),
    ("Udp", "InErrors"): (c.UDP_IN_ERRORS, "datagrams"),
    ("Udp", "InCsumErrors"): (c.UDP_IN_CSUM_ERRORS, "datagrams"),
    ("Udp", "MemErrors"): (c.UDP_MEM_ERRORS, "datagrams"),
    ("Udp", "NoPorts"): (c.UDP_NO_PORTS, "datagrams"),
    ("Ip", "InReceives"): (c.IP_IN_RECEIVES, "packets"),
    ("Ip", "InDelivers"): (c.IP_IN_DELIVERS, "packets"),
    ("Ip", "OutRequests"): (c.IP_OUT_REQUESTS, "packets"),
    ("Ip", "InHdrErrors"): (c.IP_IN_HDR_ERRORS, "packets"),
    ("Ip", "InAddrErrors"): (c.IP_IN_ADDR_ERRORS, "packets"),
    ("Ip", "InUnknownProtos"): (c.IP_IN_UNKNOWN_PROTOCOLS, "packets"),
    ("Ip", "InDiscards"): (c.IP_IN_DISCARDS, "packets"),
    ("Ip", "OutDiscards"): (c.IP_OUT_DISCARDS, "packets"),
    ("Ip", "OutNoRoutes"): (c.IP_OUT_NO_ROUTES, "packets"),
    ("Ip", "ReasmReqds"): (c.IP_REASM_REQUIRED, "packets"),
    ("Ip", "ReasmFails"): (c.IP_REASM_FAILS, "events"),
    ("Ip", "ReasmOKs"): (c.IP_REASM_OKS, "datagrams"),
    ("Ip", "ReasmTimeout"): (c.IP_REASM_TIMEOUTS, "events"),
    ("Ip", "FragFails"): (c.IP_FRAGMENT_FAILS, "packets"),
    ("Icmp", "InMsgs"): (c.ICMP_IN_MESSAGES, "packets"),
    ("Tcp", "InSegs"): (c.TCP_IN_SEGMENTS, "segments"),
    ("Tcp", "RetransSegs"): (c.TCP_RETRANSMITTED_SEGMENTS, "segments"),
    ("Tcp", "InErrs"): (c.TCP_IN_ERRORS, "segments"),
    ("Tcp", "InCsumErrors"): (c.TCP_IN_CSUM_ERRORS, "segments"),
}
_OF_NETSTAT = {
    ("TcpExt", "TCPBacklogDrop"): (c.TCP_BACKLOG_DROPS, "segments"),
    ("TcpExt", "TCPRcvQDrop"): (c.TCP_RECEIVE_QUEUE_DROPS, "segments"),
    ("IpExt", "InNoRoutes"): (c.IP_IN_NO_ROUTES, "packets"),
    ("IpExt", "InTruncatedPkts"): (c.IP_IN_TRUNCATED, "packets"),
    ("IpExt", "InCsumErrors"): (c.IP_IN_CSUM_ERRORS, "packets"),
    ("IpExt", "InCEPkts"): (c.IP_IN_CE_PACKETS, "packets"),
    ("IpExt", "InECT0Pkts"): (c.IP_IN_ECT0_PACKETS, "packets"),
}
_NEUTRAL = _OF_SNMP | _OF_NETSTAT
_SETTINGS = frozenset({("Ip", "Forwarding"), ("Ip", "DefaultTTL")})

Protocols = dict[str, dict[str, int]]


def parse_proc_net_snmp(reply: Reply) -> Protocols:
    """Protocol -> column -> value. Every line of titles must have its line of values."""
    expect_success(reply, CAT)
    protocols: Protocols = {}
    lines = list(matches(reply, _LINE, skip=BLANK))
    for titles, values in zip(lines[::2], lines[1::2], strict=False):
        if titles[1] in protocols:
            refuse(reply, f"{titles[1]} appears twice")
        protocols[titles[1]] = _values(reply, titles, values)
    if len(lines) % 2:
        incomplete(reply, f"{lines[-1][1]} has no values")
    if not protocols:
        refuse(reply, "there is no counter in it")
    return protocols


def host_readings(snmp: Reply, netstat: Reply) -> tuple[Reading, ...]:
    """The counters of Ip and Udp, TCP's retransmissions, and every other one that can mean a loss;
    without a neutral name they are called as nstat calls them. What an old kernel does not count,
    or a sandbox does not show, is None."""
    protocols = parse_proc_net_snmp(snmp)
    shown = [
        (protocol, column)
        for protocol in ("Ip", "Udp")
        for column in protocols.get(protocol, {})
        if (protocol, column) not in _SETTINGS
    ]
    wanted = [key for key in _OF_SNMP if key not in shown]
    more = parse_proc_net_snmp(netstat) if netstat.status in (0, None) else {}
    return (
        *(_reading(snmp, protocols, key) for key in [*shown, *wanted]),
        *(_reading(netstat, more, key) for key in _OF_NETSTAT),
    )


def _values(reply: Reply, titles: re.Match[str], line: re.Match[str]) -> dict[str, int]:
    name, columns, fields = titles[1], titles[2].split(), line[2].split()
    if line[1] != name:
        refuse(reply, f"the titles of {name} are followed by a line of {line[1]}")
    if len(fields) != len(columns) or len(set(columns)) != len(columns):
        refuse(reply, f"{name} has {len(columns)} titles and {len(fields)} values")
    for field in fields:
        if not _VALUE.fullmatch(field):
            refuse(reply, f"{field!r} of {name} is not a number")
    return dict(zip(columns, map(int, fields), strict=True))


def _reading(reply: Reply, protocols: Protocols, key: tuple[str, str]) -> Reading:
    protocol, column = key
    file = PROC_NET_NETSTAT if key in _OF_NETSTAT else PROC_NET_SNMP
    counter, unit = _NEUTRAL.get(key, (f"{protocol}{column}", _unit(column)))
    value = protocols.get(protocol, {}).get(column)
    if value is not None and value < 0:
        refuse(reply, f"{protocol}.{column} is {value}: a counter is never negative")
    source, missing = f"{file} {protocol}.{column}", f"{file} has no {protocol} {column}"
    return Answered(reply, "", "host").reading((counter, unit), value, source, missing)


def _unit(column: str) -> str:
    return "datagrams" if column.endswith("Datagrams") else "events"
