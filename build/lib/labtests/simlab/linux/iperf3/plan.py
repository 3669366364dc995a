"""The command line of iperf3."""

from dataclasses import dataclass

from labtests.simlab.linux.iperf3 import units
from labtests.simlab.linux.options import (
    BadOption,
    NumberOption,
    Refused,
    read_numbers,
    read_options,
)

VERSION = "iperf 3.12"
TCP_BLOCK_BYTES = 131072
MSS_BYTES = 1448
UDP_RATE_BITS_PER_S = 1024 * 1024  # iperf.h: UDP_RATE, 1 Mbit/s
LARGEST_UDP_BLOCK = 65507
LARGEST_WINDOW = 512 * 1024 * 1024  # iperf.h: MAX_TCP_BUFFER
_OPTIONS = """-s,--server -c,--client= -p,--port= -1,--one-off -J,--json -D,--daemon -u,--udp
-b,--bitrate,--bandwidth= -t,--time= -i,--interval= -l,--length= -P,--parallel= -R,--reverse
-S,--tos= -w,--window= -v,--version -h,--help --forceflush"""
USAGE_HINT = "\nUsage: iperf3 [-s|-c host] [options]\nTry `iperf3 --help' for more information.\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Iperf3Plan:
    """One run, as its options say."""

    server: str | None = None
    port: int = 5201
    one_off: bool = False
    json: bool = False
    udp: bool = False
    rate_bits_per_s: float = 0.0  # 0: as fast as it goes
    duration_s: float = 10
    interval_s: float = 1.0  # 0: no rows
    block_bytes: int = TCP_BLOCK_BYTES
    streams: int = 1
    reverse: bool = False
    tos: int = 0
    window_bytes: int = 0  # 0: the kernel's default
    flushes: bool = False


_NUMBERS = {
    "p": NumberOption("port", "port number must be between 1 and 65535 inclusive", 1, 65535),
    "t": NumberOption("duration_s", "test duration too long (maximum = 86400 seconds)", 0, 86400),
    "i": NumberOption("interval_s", "invalid report interval (min = 0.1, max = 60 seconds)", 0, 60),
    "P": NumberOption("streams", "number of parallel streams too large (maximum = 128)", 1, 128),
}


def read_plan(arguments: tuple[str, ...]) -> tuple[Iperf3Plan, dict[str, str]]:
    """The plan and the raw options. Raises Refused in iperf3's words."""
    try:
        options, _ = read_options(arguments, _OPTIONS)
    except BadOption as error:
        raise Refused(f"iperf3: {error}\n{USAGE_HINT}") from None
    if "v" in options or "h" in options:
        return Iperf3Plan(), options
    if "s" not in options and "c" not in options:
        raise _parameter("must either be a client (-c) or server (-s)")
    if "s" in options and "c" in options:
        raise _parameter("cannot be both server and client")
    udp = "u" in options
    refusal = lambda number: _parameter(number.words)  # noqa: E731
    plan = Iperf3Plan(
        server=options.get("c"),
        one_off="1" in options,
        json="J" in options,
        udp=udp,
        rate_bits_per_s=_rate(options, udp=udp),
        block_bytes=_block(options, udp=udp),
        reverse="R" in options,
        tos=_tos(options),
        window_bytes=_window(options),
        flushes="forceflush" in options,
        **read_numbers(options, _NUMBERS, _number, refusal),
    )
    return plan, options


def _parameter(text: str) -> Refused:
    return Refused(f"iperf3: parameter error - {text}\n{USAGE_HINT}")


def _number(number: NumberOption, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0  # atof(3)
    return int(value) if number.field in ("port", "streams") and 0 <= value < 1e9 else value


def _rate(options: dict[str, str], *, udp: bool) -> float:
    if "b" not in options:
        return UDP_RATE_BITS_PER_S if udp else 0.0
    value = units.rate(options["b"])
    if value is None:
        raise _parameter("invalid bitrate")
    return value


def _block(options: dict[str, str], *, udp: bool) -> int:
    default = MSS_BYTES if udp else TCP_BLOCK_BYTES
    block = int(units.size(options["l"]) or 0) if "l" in options else default
    if udp and not 16 <= block <= LARGEST_UDP_BLOCK:
        raise _parameter("block size invalid (minimum = 16 bytes, maximum = 65507 bytes)")
    return block or default


def _window(options: dict[str, str]) -> int:
    window = int(units.size(options["w"]) or 0) if "w" in options else 0
    if window > LARGEST_WINDOW:
        raise _parameter("socket buffer size too large (maximum = 536870912 bytes)")
    return window


def _tos(options: dict[str, str]) -> int:
    try:
        tos = int(options.get("S", "0"), 0)
    except ValueError:
        tos = -1
    if not 0 <= tos <= 255:
        raise _parameter("bad TOS value (must be between 0 and 255 inclusive)")
    return tos
