"""Whether a host reaches an address, before traffic is sent to it."""

from labtests.core.output import last_line
from labtests.transport.commands import program
from labtests.transport.protocol import Reply, Transport

NOT_FOUND = 127
"""What a POSIX shell says of a program that is not there."""

_DISCARD_PORT = 9  # RFC 863; hardly anybody listens, and a refusal is an answer as well
_AGAIN = 2
_REFUSED = "Connection refused"


def unreachable(host: str, transport: Transport, address: str) -> str | None:
    """Why this host does not reach the address, with what was tried; None when it does.

    By ping, of which one in three will do; where that is not installed by a TCP connection, that
    may be taken or refused."""
    command = program("ping", "-c", 1, "-W", 2, address)
    reply = transport.run(command, timeout_s=10.0)
    for _ in range(_AGAIN):
        if reply.status in (0, NOT_FOUND):
            break
        reply = transport.run(command, timeout_s=10.0)
    if reply.status == NOT_FOUND:
        connecting = f": > /dev/tcp/{address}/{_DISCARD_PORT}"
        command = program("LC_ALL=C", "timeout", 2, "bash", "-c", connecting)
        reply = transport.run(command, timeout_s=10.0)
        if _REFUSED in reply.errors:
            return None
    if reply.status == 0:
        return None
    return f"{host} cannot reach {address}: {command!r}: {_last_line(reply)}"


def _last_line(reply: Reply) -> str:
    return last_line(reply.errors or reply.text, "no answer")
