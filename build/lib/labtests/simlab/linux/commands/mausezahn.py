"""mausezahn: frames given in hexadecimal. The simulated network has no frames but its own, so what
is sent here are pauses by priority (802.1Qbb) and of links (802.3x); the words are from memory."""

import re
from dataclasses import dataclass
from typing import Literal

from labtests.simlab.linux.calls import Call, Tools
from labtests.simlab.linux.options import BadOption, NotEmulated, read_options, whole
from labtests.simlab.linux.processes import Pause, Program

_TO_THE_PEER = bytes.fromhex("0180c2000001")
_LINK, _PFC = bytes.fromhex("88080001"), bytes.fromhex("88080101")
_NOBODY = bytes(6)
_NS = {"": 1_000, "usec": 1_000, "msec": 1_000_000, "sec": 1_000_000_000}
_OCTET = re.compile(r"[0-9a-fA-F]{2}")
LEAST_FRAME_BYTES = 60
_Odd = Literal["", "no class", "no source"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pause:
    """What a frame pauses (None: the link), and for how many quanta: of all of them the same."""

    priorities: frozenset[int] | None
    quanta: int
    odd: _Odd = ""


def _mausezahn(call: Call) -> Program:
    options, words = read_options(call.arguments, "-q -c= -d=")
    if len(words) != 2:
        raise BadOption("a network interface and a frame are needed")
    interface, text = words
    port = call.host.port(interface)
    if port is None:
        return call.fail(f"Invalid interface {interface}")
    if call.process.user != "root":
        return call.fail("libnet_init() failed (You must have root privileges)")
    pause = _pause(text)
    count, every_ns = whole(options, "c", 1, "count"), _delay_ns(options.get("d", "0"))
    if count < 1:
        raise NotEmulated("frames without end")
    if port.nic is None:
        return 0  # the frames go nowhere
    control, now_ns = port.nic.flow_control, call.host.kernel.now_ns
    last_ns = now_ns + (count - 1) * every_ns
    control.storm(
        pause.priorities,
        quanta=pause.quanta,
        odd=pause.odd,
        period_us=max(every_ns, 1_000) / 1_000,
        stop_ns=last_ns + 1,
    )
    call.process.at_end.append(control.end_storm)
    while call.host.kernel.now_ns < last_ns:
        yield Pause(until_ns=last_ns)
    yield Pause(until_ns=last_ns + 1)
    return 0


def _pause(text: str) -> _Pause:
    octets = re.split(r"[ :]", text.strip())
    if not all(_OCTET.fullmatch(octet) for octet in octets):
        raise BadOption(f"Invalid packet specification: {text[:40]}")
    frame = bytes.fromhex("".join(octets))
    to, source, control = frame[:6], frame[6:12], frame[12:16]
    if to != _TO_THE_PEER or control not in (_LINK, _PFC) or len(frame) < LEAST_FRAME_BYTES:
        raise NotEmulated("frames other than pauses")
    if control == _LINK:
        return _Pause(priorities=None, quanta=int.from_bytes(frame[16:18]))
    named = frozenset(n for n in range(8) if frame[17] >> n & 1)
    timed = named or frozenset(range(8))
    quanta = {int.from_bytes(frame[18 + 2 * n : 20 + 2 * n]) for n in timed}
    if len(quanta) != 1:
        raise NotEmulated("a frame with several pause times")
    odd: _Odd = "no source" if source == _NOBODY else ""
    return _Pause(priorities=timed, quanta=quanta.pop(), odd=odd if named else "no class")


def _delay_ns(text: str) -> int:
    match = re.fullmatch(r"([0-9]+)(usec|msec|sec|)", text)
    if match is None:
        raise BadOption(f"Invalid delay: {text}")
    return int(match[1]) * _NS[match[2]]


TOOLS: Tools = {"mausezahn": _mausezahn}
