"""`display qos trust interface`: which field of a packet decides its priority."""

import re
from typing import Literal, get_args

from labtests.capabilities.records import TrustSetting
from labtests.drivers.comware.names import printed_port
from labtests.drivers.parsing import matches, refuse
from labtests.transport.protocol import Reply

Source = Literal["dscp", "dot1p", "none", "auto", "exp", "ip-precedence"]

_INTERFACE = re.compile(r"^\s*Interface:\s*(?P<name>\S(?:.*\S)?)\s*$")
_TITLE = re.compile(r"^\s*Port priority (?:trust )?information\s*$")
_PRIORITY = re.compile(r"^\s*Port (?:\w+ )?priority\s*:\s*(?:\d+|-+)\s*$")
_TRUST = re.compile(
    r"^\s*Port priority trust type\s*:\s*(?P<source>[\w-]+)"
    r"(?:\s*,\s*Override\s*:\s*(?P<override>enable|disable)d?)?\s*$"
)
# The manual's only sample says `exp`. What a port without trust prints was not seen; both words
# that H3C's manuals use for it are read.
_WORDS = {"untrust": "none", "untrusted": "none"}
_SOURCES: dict[str, Source] = {source: source for source in get_args(Source)}


def parse_qos_trust(reply: Reply) -> dict[str, TrustSetting]:
    """Port (full name) -> what it trusts. A port without its trust line was cut off: refused."""
    found: dict[str, TrustSetting] = {}
    port: str | None = None
    for match in matches(reply, _INTERFACE, _TITLE, _PRIORITY, _TRUST):
        if match.re is _INTERFACE:
            _expect_finished(reply, found, port)
            port = printed_port(reply, match["name"])
        elif match.re is _TRUST:
            if port is None or port in found:
                refuse(reply, f"a trust type that belongs to no port: {match.group()!r}")
            found[port] = _setting(reply, match)
    _expect_finished(reply, found, port)
    if not found:
        refuse(reply, "there is no port in it")
    return found


def _expect_finished(reply: Reply, found: dict[str, TrustSetting], port: str | None) -> None:
    if port is not None and port not in found:
        refuse(reply, f"{port} has no line `Port priority trust type`")


def _setting(reply: Reply, match: re.Match[str]) -> TrustSetting:
    word = match["source"].lower()
    source = _SOURCES.get(_WORDS.get(word, word))
    if source is None:
        refuse(reply, f"trust type {match['source']!r} is unrecognised")
    return TrustSetting(source=source, override=match["override"] == "enable")
