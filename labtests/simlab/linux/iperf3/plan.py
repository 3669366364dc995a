"""The command line of iperf3."""

from dataclasses import dataclass

from labtests.simlab.linux.iperf3 import units
from labtests.simlab.linux.options import BadOption, read_options

VERSION = "iperf 3.12"
DEFAULT_PORT = 5201
DEFAULT_DURATION_S = 10
TCP_BLOCK_BYTES = 131072
MSS_BYTES = 1448
UDP_RATE_BITS_PER_S = 1024 * 1024  # iperf.h: UDP_RATE, 1 Mbit/s
LARGEST_UDP_BLOCK = 65507
LARGEST_WINDOW = 512 * 1024 * 1024  # iperf.h: MAX_TCP_BUFFER
_LONG = {
    "server": "s",
    "client": "c",
    "port": "p",
    "one-off": "1",
    "json": "J",
    "daemon": "D",
    "udp": "u",
    "bitrate": "b",
    "bandwidth": "b",
    "time": "t",
    "interval": "i",
    "length": "l",
    "parallel": "P",
    "reverse": "R",
    "tos": "S",
    "dscp": "9",
    "window": "w",
    "format": "f",
    "version": "v",
    "help": "h",
    "bind": "B",
    "omit": "O",
    "forceflush": "8",
    "connect-timeout": "7",
    "logfile": "I",
    "no-delay": "N",
    "congestion": "C",
    "set-mss": "M",
    "zerocopy": "Z",
    "get-server-output": "6",
    "cport": "5",
}
USAGE_HINT = "\nUsage: iperf3 [-s|-c host] [options]\nTry `iperf3 --help' for more information.\n"


class Iperf3Rejected(Exception):
    """The command line is refused; the text goes to stderr."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Iperf3Plan:
    """One run, as its options say."""

    server: str | None = None
    port: int = DEFAULT_PORT
    one_off: bool = False
    json: bool = False
    daemon: bool = False
    udp: bool = False
    rate_bits_per_s: float = 0.0  # 0: as fast as it goes
    duration_s: float = DEFAULT_DURATION_S
    interval_s: float = 1.0  # 0: no rows
    block_bytes: int = TCP_BLOCK_BYTES
    streams: int = 1
    reverse: bool = False
    tos: int = 0
    window_bytes: int = 0  # 0: the kernel's default
    form: str = ""
    flushes: bool = False


def read_plan(arguments: tuple[str, ...]) -> tuple[Iperf3Plan, dict[str, str]]:
    """The plan and the raw options. Raises Iperf3Rejected in iperf3's words."""
    words = ["--forceflush=" if word == "--forceflush" else word for word in arguments]
    words = ["--get-server-output=" if w == "--get-server-output" else w for w in words]
    try:
        options, rest = read_options(words, "s1JDuRvhNZVdF46", "cpbtilPSwfBOICMA9875", long=_LONG)
    except BadOption as error:
        raise Iperf3Rejected(f"iperf3: {error}\n{USAGE_HINT}") from None
    del rest
    if "v" in options or "h" in options:
        return Iperf3Plan(), options
    if "s" not in options and "c" not in options:
        raise _parameter("must either be a client (-c) or server (-s)")
    if "s" in options and "c" in options:
        raise _parameter("cannot be both server and client")
    udp = "u" in options
    plan = Iperf3Plan(
        server=options.get("c"),
        port=_integer(
            options.get("p"),
            DEFAULT_PORT,
            "port number must be between 1 and 65535 inclusive",
            (1, 65535),
        ),
        one_off="1" in options,
        json="J" in options,
        daemon="D" in options,
        udp=udp,
        rate_bits_per_s=_rate(options, udp=udp),
        duration_s=_number(
            options.get("t"),
            DEFAULT_DURATION_S,
            "test duration too long (maximum = 86400 seconds)",
            (0, 86400),
        ),
        interval_s=_number(
            options.get("i"), 1.0, "invalid report interval (min = 0.1, max = 60 seconds)", (0, 60)
        ),
        block_bytes=_block(options, udp=udp),
        streams=_integer(
            options.get("P"), 1, "number of parallel streams too large (maximum = 128)", (1, 128)
        ),
        reverse="R" in options,
        tos=_tos(options),
        window_bytes=_window(options),
        form=options.get("f", "")[:1],
        flushes="8" in options,
    )
    return plan, options


def _parameter(text: str) -> Iperf3Rejected:
    return Iperf3Rejected(f"iperf3: parameter error - {text}\n{USAGE_HINT}")


def _number(text: str | None, default: float, problem: str, bounds: tuple[float, float]) -> float:
    if text is None:
        return default
    try:
        value = float(text)
    except ValueError:
        value = 0.0  # atof(3)
    if not bounds[0] <= value <= bounds[1]:
        raise _parameter(problem)
    return value


def _integer(text: str | None, default: int, problem: str, bounds: tuple[int, int]) -> int:
    return int(_number(text, default, problem, bounds))


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
    text = options.get("S", "0")
    try:
        tos = int(options["9"], 0) << 2 if "9" in options else int(text, 0)
    except ValueError:
        tos = -1
    if not 0 <= tos <= 255:
        raise _parameter("bad TOS value (must be between 0 and 255 inclusive)")
    return tos
