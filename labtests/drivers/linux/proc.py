"""/proc/net/snmp: what the host's own IP and UDP saw (RFC 1213 names, Linux additions).

A protocol has two lines: its name with column titles, then its name with values. Columns differ
between kernels, so they are read by title. UdpRcvbufErrors and IpReasmFails tell loss in the host
from loss in the network.
"""

import re

from labtests import counters as c
from labtests.drivers.answers import Tool, expect_success
from labtests.reading import BLANK, incomplete, matches, refuse
from labtests.records import Reading
from labtests.transport import Reply

PROC_NET_SNMP = "/proc/net/snmp"
CAT = Tool(name="cat", install="install coreutils on this host")

_LINE = re.compile(r"^([A-Za-z0-9]+):(.*)$")
_VALUE = re.compile(r"-?[0-9]+")  # Tcp MaxConn is -1
_NEUTRAL = {
    ("Udp", "OutDatagrams"): (c.UDP_OUT_DATAGRAMS, "datagrams"),
    ("Udp", "InDatagrams"): (c.UDP_IN_DATAGRAMS, "datagrams"),
    ("Udp", "RcvbufErrors"): (c.UDP_RCVBUF_ERRORS, "datagrams"),
    ("Udp", "InErrors"): (c.UDP_IN_ERRORS, "datagrams"),
    ("Ip", "ReasmFails"): (c.IP_REASM_FAILS, "events"),
    ("Ip", "ReasmOKs"): (c.IP_REASM_OKS, "datagrams"),
    ("Tcp", "RetransSegs"): (c.TCP_RETRANSMITTED_SEGMENTS, "segments"),
}
_SETTINGS = frozenset({("Ip", "Forwarding"), ("Ip", "DefaultTTL")})

Protocols = dict[str, dict[str, int]]


def parse_proc_net_snmp(reply: Reply) -> Protocols:
    """Protocol -> column -> value. Every line of titles must have its line of values."""
    expect_success(reply, CAT)
    protocols: Protocols = {}
    titles: tuple[str, list[str]] | None = None
    for line in matches(reply, _LINE, skip=BLANK):
        fields = line[2].split()
        if titles is None:
            if line[1] in protocols:
                refuse(reply, f"{line[1]} is there twice")
            titles = (line[1], fields)
            continue
        protocols[line[1]] = _values(reply, line, titles)
        titles = None
    if titles is not None:
        incomplete(reply, f"{titles[0]} has no values")
    if not protocols:
        refuse(reply, "there is no counter in it")
    return protocols


def host_readings(reply: Reply) -> tuple[Reading, ...]:
    """The counters of Ip and Udp, and TCP's retransmissions; without a neutral name they are called
    as nstat calls them."""
    protocols = parse_proc_net_snmp(reply)
    shown = [
        (protocol, column)
        for protocol in ("Ip", "Udp")
        for column in protocols.get(protocol, {})
        if (protocol, column) not in _SETTINGS
    ]
    wanted = [key for key in _NEUTRAL if key not in shown]
    return tuple(_reading(reply, protocols, key) for key in [*shown, *wanted])


def _values(reply: Reply, line: re.Match[str], titles: tuple[str, list[str]]) -> dict[str, int]:
    name, columns = titles
    fields = line[2].split()
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
    counter, unit = _NEUTRAL.get(key, (f"{protocol}{column}", _unit(column)))
    value = protocols.get(protocol, {}).get(column)
    if value is not None and value < 0:
        refuse(reply, f"{protocol}.{column} is {value}: a counter is never negative")
    return Reading(
        device=reply.device,
        port="",
        scope="host",
        index=None,
        counter=counter,
        unit=unit,
        value=value,
        time_s=reply.time_s,
        source=f"{PROC_NET_SNMP} {protocol}.{column}",
        missing="" if value is not None else f"{PROC_NET_SNMP} has no {protocol} {column}",
    )


def _unit(column: str) -> str:
    return "datagrams" if column.endswith("Datagrams") else "events"
