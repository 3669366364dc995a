"""Packets that an iperf3 client sends in its class and counts nowhere.

Each UDP stream begins with a datagram of 4 bytes, by which the server learns the client's port.
Whether it has the TOS depends on the client's release, the server's does not matter:

| client      | TOS of the first datagram | known from                                  |
|-------------|---------------------------|---------------------------------------------|
| up to 3.12  | 0                         | counted: 3.9, 3.12 (Debian 11, 12)          |
| 3.13 - 3.15 | not known                 | neither counted nor read                    |
| from 3.16   | that of the stream        | counted: 3.18, 3.22 (Debian 13, sid); its   |
|             |                           | source after 3.16: set before that datagram |

(Counted on a loopback device by a packet socket, 1 and 3 streams, clients and servers mixed. With
`-R` the server's 4 bytes come back, without the TOS up to 3.18, with it in 3.22.)
"""

import re

_RELEASE = re.compile(r"iperf (\d+)\.(\d+)(?:[.+-]|$)")
_LAST_UNMARKED = (3, 12)
_FIRST_MARKED = (3, 16)


def first_datagrams(version: str | None, *, tos: int, streams: int) -> int | None:
    """How many first datagrams of a client of this version (its own word, `iperf 3.18`) have the
    TOS. In class 0 its control connection is too, so there this is not known."""
    release = _RELEASE.match(version or "")
    if release is None or tos == 0:
        return None
    number = (int(release[1]), int(release[2]))
    if number <= _LAST_UNMARKED:
        return 0
    return streams if number >= _FIRST_MARKED else None
