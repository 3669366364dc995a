"""ethtool: -S, -i, -a, --show-fec and the link's settings; errors as recorded with ethtool 6.1."""

from collections.abc import Callable, Mapping
from functools import partial

from labtests.simlab.linux.calls import Call, Tools, screen
from labtests.simlab.linux.mlx5_counters import statistics
from labtests.simlab.linux.options import NotEmulated, Refused

_NO_SUCH_DEVICE = {
    "-S": ("Cannot get stats strings information: No such device\n", 96),
    "-i": ("Cannot get driver information: No such device\n", 71),
    "-a": ("netlink error: no device matches name (offset 24)\nnetlink error: No such device\n", 1),
    "": (
        "netlink error: no device matches name (offset 24)\nnetlink error: No such device\n" * 7,
        75,
    ),
}
_ONLY_REAL = frozenset("AcCdeEfgGkKlLmnNpPrsTtuUwWxX")
_LONG = {"--statistics": "-S", "--driver": "-i", "--show-pause": "-a"}


_BAD = "ethtool: bad command line argument(s)\n{}For more information run ethtool -h\n"


def _ethtool(call: Call) -> str:
    words = list(call.arguments)
    if words[:1] == ["--version"]:
        return "ethtool version 5.16\n"
    if words[:1] == ["--json"]:
        raise Refused(_BAD.format("JSON output not available for this subcommand\n"))
    option = _LONG.get(words[0], words[0]) if words and words[0].startswith("-") else ""
    if option:
        words.pop(0)
    if option not in _SHOW and (option[:2] == "--" or option[1:] in _ONLY_REAL):
        raise NotEmulated(" ".join(call.arguments))
    if len(words) != 1 or option not in _SHOW:
        raise Refused(_BAD.format(""))
    return _on_interface(call, option, words)


def _on_interface(call: Call, option: str, words: list[str]) -> str:
    port = call.host.port(words[0])
    if port is not None:
        return _SHOW[option](port=port)
    if words[0] == "lo" and option == "-i":
        raise Refused("Cannot get driver information: Operation not supported\n", 71)
    if words[0] == "lo" and option == "-S":
        raise Refused("no stats available\n", 94)
    text, status = _NO_SUCH_DEVICE.get(option, _NO_SUCH_DEVICE["-a"])
    raise Refused(text, status, printed="" if option else "No data available\n")


_SHOW: Mapping[str, Callable[..., str]] = {
    "-S": statistics,
    "-i": partial(screen, "ethtool-driver"),
    "-a": partial(screen, "ethtool-pause"),
    "--show-fec": partial(screen, "ethtool-fec"),
    "": partial(screen, "ethtool-settings"),
}
TOOLS: Tools = {"ethtool": _ethtool}
