"""`tc filter show dev IF parent H`: which packets go where, as the text of u32, flower, matchall.

Only what can be decided for IPv4 by the TOS byte alone is understood; a filter that looks at
anything else, or does anything else than choose a class, is refused by its name, because then the
queue of a DSCP cannot be told.

    filter parent 1: protocol ip pref 10 u32 chain 0 fh 800::800 order 2048 key ht 800 bkt 0 ...
      match 00b80000/00fc0000 at 0
    filter parent 1: protocol ip pref 20 flower chain 0 handle 0x1 classid 1:13
      eth_type ipv4
      ip_tos 184/0xfc
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

from labtests.drivers.linux_switch.handles import Handle, handle
from labtests.drivers.parsing import BLANK, incomplete, matches, refuse
from labtests.transport.protocol import Reply

_HEAD = re.compile(
    r"^filter (?:(?:parent (?P<parent>\S+)|root) )?"
    r"(?P<name>(?:block \d+ )?protocol (?P<protocol>\S+)"
    r" pref (?P<pref>\d+) (?P<kind>\S+))(?: chain (?P<chain>\d+))?(?P<rest>.*)$"
)
_U32_MATCH = re.compile(r"^\s+match ([0-9a-f]{8})/([0-9a-f]{8}) at (\S+)(?: \(success \d+ \))?\s*$")
_ETH_TYPE = re.compile(r"^\s+eth_type (\S+)\s*$")
_IP_TOS = re.compile(r"^\s+ip_tos (0x[0-9a-f]+|\d+)(?:/(?:0x)?([0-9a-f]+))?\s*$")
"""`0x60/fc` until iproute2 5.1; the same is `96/0xfc` since, and a whole byte `96`."""
_HARDWARE = re.compile(r"^\s+(?:not_in_hw|in_hw(?: in_hw_count \d+)?|skip_hw|skip_sw)\s*$")
_OTHER = re.compile(r"^\s+\S.*$")

_NOT_IPV4 = frozenset({"ipv6", "arp", "802.1Q", "802.1ad", "lldp", "802_2", "802_3"})
_U32 = re.compile(
    r"^ fh (?P<fh>[0-9a-f]+:(?:[0-9a-f]*:[0-9a-f]+)?)"
    r"(?: ht divisor (?P<divisor>\d+)| order \d+ key ht (?P<table>[0-9a-f]+) bkt (?P<bucket>\d+)"
    r"(?: \*?flowid (?P<flowid>[0-9a-f:]+))?(?: (?:not_in_hw|in_hw|skip_hw|skip_sw))*"
    r"(?: +\(rule hit \d+ success \d+\))?)\s*$"
)
_FLOWER = re.compile(r"^ handle 0x[0-9a-f]+(?: classid (?P<flowid>[0-9a-f:]+))?\s*$")
_MATCHALL = re.compile(
    r"^ handle 0x[0-9a-f]+(?: flowid (?P<flowid>[0-9a-f:]+))?(?: (?:not_in_hw|in_hw|skip_hw))*\s*$"
)
_DECIDED = "labtests reads filters that choose a class by the TOS byte alone (u32, flower)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """One filter that may take IPv4 packets: those whose TOS byte & mask is value, into a class.

    `name` is how tc names it.
    """

    name: str
    pref: int
    kind: str
    tos_value: int
    tos_mask: int
    to: Handle

    def takes(self, tos: int) -> bool:
        """Whether a packet with this TOS byte is taken."""
        return tos & self.tos_mask == self.tos_value


@dataclass(slots=True)
class _FilterLines:
    """A filter as it is read, line by line."""

    head: re.Match[str]
    to: Handle | None
    value: int = 0
    mask: int = 0
    matches: int = 0
    hardware: bool = False  # whether it is said if the hardware has it: flower's last line

    @property
    def name(self) -> str:
        return self.head["name"] + self.head["rest"].rstrip()


def parse_filters(reply: Reply) -> tuple[Filter, ...]:
    """Every filter that may take an IPv4 packet, in the order in which they are tried."""
    found: list[_FilterLines] = []
    ours = True  # whether the lines below belong to a filter that IPv4 packets meet
    rules = (_HEAD, _U32_MATCH, _ETH_TYPE, _IP_TOS, _HARDWARE, _OTHER)
    for line in matches(reply, *rules, skip=BLANK):
        if line.re is _HEAD:
            ours = line["protocol"] not in _NOT_IPV4
            if ours and (rule := _begun(reply, line)) is not None:
                found.append(rule)
        elif ours:
            _add(reply, found, line)
    return tuple(_filters(reply, found))


def _begun(reply: Reply, head: re.Match[str]) -> _FilterLines | None:
    """A filter's first line; None for the lines that only introduce its table."""
    if head["protocol"] not in ("ip", "all"):
        refuse(reply, f"filter of a protocol that is unrecognised: {head.group()!r}")
    if head["chain"] not in (None, "0"):
        _undecided(reply, head, "is in a chain of its own")
    if not head["rest"].strip():
        return None
    rules = {"u32": _U32, "flower": _FLOWER, "matchall": _MATCHALL}
    rest = rules[head["kind"]].match(head["rest"]) if head["kind"] in rules else None
    if rest is None:
        _undecided(reply, head, "is of a kind, or has options, that labtests does not read")
    if rest.re is _U32 and rest["divisor"]:
        if rest["divisor"] != "1":
            _undecided(reply, head, "hashes")
        return None
    if not rest["flowid"]:
        _undecided(reply, head, "chooses no class")
    return _FilterLines(head, handle(reply, rest["flowid"], "flowid"))


def _add(reply: Reply, found: list[_FilterLines], line: re.Match[str]) -> None:
    if not found:
        refuse(reply, f"{line.group()!r} belongs to no filter")
    rule = found[-1]
    if line.re is _U32_MATCH and rule.head["kind"] == "u32":
        _match_word(reply, rule, line)
    elif line.re is _IP_TOS and rule.head["kind"] == "flower":
        mask = int(line[2] or "ff", 16)
        rule.value, rule.mask = int(line[1], 0) & mask, mask
        rule.matches += 1
    elif line.re is _ETH_TYPE:
        _expect_ipv4(reply, rule, line)
    elif line.re is _HARDWARE:
        rule.hardware = True
    else:
        _undecided(reply, rule.head, f"also says {line.group().strip()!r}")


def _expect_ipv4(reply: Reply, rule: _FilterLines, line: re.Match[str]) -> None:
    if line[1] != "ipv4":
        _undecided(reply, rule.head, f"also says {line.group().strip()!r}")


def _match_word(reply: Reply, rule: _FilterLines, line: re.Match[str]) -> None:
    """A 32-bit word of the packet, counted from its IP header; the TOS byte is the second."""
    value, mask = int(line[1], 16), int(line[2], 16)
    rule.matches += 1
    if mask and (line[3] != "0" or mask & 0xFF00FFFF):
        _undecided(reply, rule.head, f"looks at more than the TOS byte ({line.group().strip()})")
    tos_value, tos_mask = value >> 16 & 0xFF, mask >> 16 & 0xFF
    if (rule.value ^ tos_value) & rule.mask & tos_mask:
        _undecided(reply, rule.head, "contradicts itself")
    rule.value, rule.mask = rule.value | tos_value, rule.mask | tos_mask


def _filters(reply: Reply, found: list[_FilterLines]) -> Iterator[Filter]:
    for rule in found:
        if rule.head["kind"] == "u32" and not rule.matches:
            _undecided(reply, rule.head, "matches nothing")
        if rule.head["kind"] == "flower" and not rule.hardware:  # there may be more that it matches
            incomplete(reply, f"`{rule.name}` has no line `not_in_hw` or `in_hw` (Linux 4.13)")
        assert rule.to is not None
        yield Filter(
            name=rule.name,
            pref=int(rule.head["pref"]),
            kind=rule.head["kind"],
            tos_value=rule.value,
            tos_mask=rule.mask,
            to=rule.to,
        )


def _undecided(reply: Reply, head: re.Match[str], why: str) -> NoReturn:
    refuse(reply, f"filter `{head['name']}{head['rest'].rstrip()}` {why}", _DECIDED)
