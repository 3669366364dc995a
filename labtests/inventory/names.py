"""What names in a testbed file may look like. They end up in shell commands, CLIs, paths, HTML.

Names are plain ASCII without white space, quotes or shell characters, and start with a letter,
digit or underscore, so that none can be taken for an option or leave its command. Paths and the
description, which no device ever sees, are free, but for what a terminal would obey or not show.
"""

import ipaddress
import re
import socket
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, WithJsonSchema

_SECRET = re.compile(
    r"pass(word|wd|phrase)|(^|[_-])(pass|pw|pwd|psk|pin)($|[_-])|secret|token|credential"
    r"|private[_-]?key|api[_-]?key|community",
    re.I,
)

# controls (C0, C1), line and paragraph separators, marks that turn the direction of writing or
# have no width: a terminal obeys them, or shows something else than what is written
_UNSHOWN = (
    r"\x00-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
)


NAME_OF_SECRET = "password_env"


def names_a_secret(key: str) -> bool:
    """Whether a key asks for a secret's value. `password_env` asks for a name, so it does not."""
    return key != NAME_OF_SECRET and _SECRET.search(key) is not None


def _text(pattern: str, rule: str) -> Any:
    """A text of one form. Neither the rule nor anything else repeats the text: it may be secret."""
    compiled = re.compile(pattern)

    def check(value: str) -> str:
        if not compiled.fullmatch(value):
            raise ValueError(rule)
        return value

    schema = WithJsonSchema({"type": "string", "pattern": f"^(?:{pattern})$"})
    return Annotated[str, AfterValidator(check), schema]


Name = _text(
    r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}",
    "a name has letters, digits, `.`, `_` and `-`, begins with a letter or digit, and is at most "
    "63 characters long",
)
PortName = _text(
    r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}(#[1-9][0-9]{0,2})?",
    "a name has letters, digits, `.`, `_` and `-`, begins with a letter or digit, and is at most "
    "63 characters long; `#2` behind a host's name is its second link",
)
LabName = _text(
    r"(?!latest\Z)[A-Za-z0-9][A-Za-z0-9._-]{0,62}",
    "a lab's name has letters, digits, `.`, `_` and `-`, begins with a letter or digit, is at most "
    "63 characters long, and not `latest`: reports/latest is the last run of any lab",
)
Interface = _text(
    r"(?!.*\.\.)[A-Za-z0-9][A-Za-z0-9._/:@-]{0,63}",
    "an interface has letters, digits, `.`, `_`, `-`, `/`, `:` and `@` without `..`, begins with a "
    "letter or digit, and is at most 64 characters long",
)
RdmaDevice = _text(
    r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}",
    "an RDMA device is a name such as mlx5_0; leave it out to have it discovered",
)
_OPTIONS = (
    "pty user-rc agent-forwarding port-forwarding x11-forwarding touch-required no-pty no-user-rc "
    "no-agent-forwarding no-port-forwarding no-x11-forwarding no-touch-required verify-required "
    "no-verify-required restrict cert-authority permitopen permitlisten principals tunnel command "
    "environment expiry-time from"
)
LOGIN_OPTIONS = frozenset(_OPTIONS.split())
"""Options of a line of authorized_keys (sshd(8), and auth-options.c of OpenSSH): a line of
known_hosts that began so would be leave to log in, were it read there."""


def _in_any_case(word: str) -> str:
    """A pattern that editors read, too: their regular expressions have no flags inside."""
    return "".join(f"[{c}{c.upper()}]" if c.isalpha() else c for c in word)


_NO_HOST = f"(?!({'|'.join(map(_in_any_case, _OPTIONS.split()))})($|[,:]))"
Host = _text(
    rf"{_NO_HOST}[A-Za-z0-9_][A-Za-z0-9._-]{{0,252}}"
    r"|[0-9A-Fa-f:]{2,39}(%[A-Za-z0-9._-]{1,32})?",
    "a host is a DNS name, a name of ~/.ssh/config or an IP address, without user and port, and no "
    "option of an authorized_keys file",
)
User = _text(
    r"[A-Za-z0-9_][A-Za-z0-9._@\\-]{0,63}",
    "a user has letters, digits, `.`, `_`, `-`, `@` and `\\`, and begins with a letter, digit or _",
)
_HOP = (
    r"(ssh://)?([A-Za-z0-9_][A-Za-z0-9._-]*@)?"
    rf"({_NO_HOST}[A-Za-z0-9_][A-Za-z0-9._-]*|\[[0-9A-Fa-f:.]+\])(:[0-9]{{1,5}})?"
)
Jump = _text(
    rf"{_HOP}(,{_HOP})*",
    "a jump host is written [user@]host[:port], several with commas; it never holds a password",
)
EnvironmentName = _text(
    r"[A-Z_][A-Z0-9_]{0,127}",
    "this is the NAME of an environment variable that holds the password, in capitals; never the "
    "password",
)
_PATH = rf"[^{_UNSHOWN}]{{1,4096}}"


def _path(value: str) -> str:
    if not re.fullmatch(_PATH, value):
        raise ValueError(
            "a path to a file, on one line (never the content of a key), without invisible "
            "characters"
        )
    try:
        Path(value).expanduser()
    except RuntimeError:
        raise ValueError("a path with `~NAME` needs a user of that name on this machine") from None
    return value


FilePath = Annotated[
    str,
    AfterValidator(_path),
    WithJsonSchema({"type": "string", "pattern": f"^(?:{_PATH})$"}),
]
FolderPath = _text(
    r"(?!.*/\.\.?(/|$))(/[A-Za-z0-9_][A-Za-z0-9._-]*|/\.[A-Za-z0-9_-]+){1,16}",
    "a folder on a device is an absolute path of letters, digits, `.`, `_` and `-`, without `..`",
)
Description = _text(
    rf"(?:[\t\n]|[^{_UNSHOWN}]){{0,2000}}",
    "a description is at most 2000 characters, without control or invisible characters",
)
EndpointText = _text(
    r"(?!.*\.\.)[A-Za-z0-9][A-Za-z0-9._-]{0,62}(:[A-Za-z0-9][A-Za-z0-9._/:@-]{0,63})?",
    "a port is written Device:interface, or Device alone when that has one port only",
)


def _address(value: str) -> str:
    try:
        address, prefix_length = split_address(value)
    except ValueError:
        raise ValueError("an address is IPv4 with a prefix, such as 192.168.10.10/24") from None
    network = ipaddress.IPv4Network(f"{address}/{prefix_length or 32}", strict=False)
    host = ipaddress.IPv4Address(address)
    if host.is_multicast or host.is_unspecified or host.is_loopback or int(host) >> 28 == 15:
        raise ValueError("a port cannot have this address")
    if network.prefixlen < 31 and host in (network.network_address, network.broadcast_address):
        raise ValueError(f"this is the network or broadcast address of {network}")
    return value


def split_address(text: str) -> tuple[str, int | None]:
    """`192.168.10.10/24` as address and prefix length (None when there is none). ValueError if
    it is neither."""
    match = re.fullmatch(r"([0-9.]+)(?:/([0-9]{1,2}))?", text)
    if not match:
        raise ValueError(text)
    address = str(ipaddress.IPv4Address(match[1]))
    if match[2] is None:
        return address, None
    return address, ipaddress.IPv4Interface(text).network.prefixlen


Address = Annotated[
    str,
    AfterValidator(_address),
    WithJsonSchema({"type": "string", "pattern": r"^[0-9]{1,3}(\.[0-9]{1,3}){3}(/[0-9]{1,2})?$"}),
]


def plain_host(host: str) -> str:
    """As ssh has it before it looks for its key: an address as the system writes it, a name in
    small letters, which is what a hashed name is a hash of (ssh.c, resolve_canonicalize)."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
        return socket.getnameinfo(found[0][4], socket.NI_NUMERICHOST)[0]
    except (OSError, UnicodeError):
        return host.lower()
