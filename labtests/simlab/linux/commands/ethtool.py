"""ethtool: -S, -i, -a, -g, -P and the link's settings; errors as recorded with ethtool 6.1."""

from collections.abc import Callable, Mapping

from labtests.simlab.linux.calls import Call, Tools
from labtests.simlab.linux.mlx5_counters import statistics
from labtests.simlab.linux.options import NotEmulated, Refused
from labtests.simlab.linux.ports import NicPort

DRIVER = "5.8-3.0.7"  # mlx5_core's version, unless a fault gives another
_NO_SUCH_DEVICE = {
    "-S": ("Cannot get stats strings information: No such device\n", 96),
    "-i": ("Cannot get driver information: No such device\n", 71),
    "-a": ("netlink error: no device matches name (offset 24)\nnetlink error: No such device\n", 1),
    "": (
        "netlink error: no device matches name (offset 24)\nnetlink error: No such device\n" * 7,
        75,
    ),
}
_ONLY_REAL = frozenset("AcCdeEfgGkKlLmnNprsTtuUwWxX")
_LONG = {"--statistics": "-S", "--driver": "-i", "--show-pause": "-a", "--show-permaddr": "-P"}


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
        return _SHOW[option](call, port)
    if words[0] == "lo" and option == "-i":
        raise Refused("Cannot get driver information: Operation not supported\n", 71)
    if words[0] == "lo" and option == "-S":
        raise Refused("no stats available\n", 94)
    text, status = _NO_SUCH_DEVICE.get(option, _NO_SUCH_DEVICE["-a"])
    raise Refused(text, status, printed="" if option else "No data available\n")


def _driver(call: Call, port: NicPort) -> str:
    return (
        "driver: mlx5_core\n"
        f"version: {port.faults.defects.driver or DRIVER}\n"
        f"firmware-version: {port.firmware} (MT_2190110032)\n"
        "expansion-rom-version: \n"
        f"bus-info: 0000:03:00.{port.index}\n"
        "supports-statistics: yes\n"
        "supports-test: yes\n"
        "supports-eeprom-access: no\n"
        "supports-register-dump: no\n"
        "supports-priv-flags: yes\n"
    )


def _pause(call: Call, port: NicPort) -> str:
    on = "off" if call.host.qos[port.interface].pfc else "on"
    return (
        f"Pause parameters for {port.interface}:\nAutonegotiate:\toff\nRX:\t\t{on}\nTX:\t\t{on}\n\n"
    )


def _settings(call: Call, port: NicPort) -> str:
    speed = f"{port.shown_mbit_per_s}Mb/s" if port.up else "Unknown!"
    return (
        f"Settings for {port.interface}:\n"
        "\tSupported ports: [ FIBRE ]\n"
        "\tSupported link modes:   Not reported\n"
        "\tSupported pause frame use: Symmetric\n"
        "\tSupports auto-negotiation: Yes\n"
        "\tSupported FEC modes: None\t RS\t BASER\n"
        "\tAdvertised link modes:  Not reported\n"
        "\tAdvertised pause frame use: No\n"
        "\tAdvertised auto-negotiation: Yes\n"
        "\tAdvertised FEC modes: None\n"
        f"\tSpeed: {speed}\n"
        f"\tDuplex: {'Full' if port.up else 'Unknown! (255)'}\n"
        "\tAuto-negotiation: on\n"
        "\tPort: Direct Attach Copper\n"
        "\tPHYAD: 0\n"
        "\tTransceiver: internal\n"
        "\tSupports Wake-on: d\n"
        "\tWake-on: d\n"
        f"\tLink detected: {'yes' if port.up else 'no'}\n"
    )


def _fec(call: Call, port: NicPort) -> str:
    """RS from 25G on, as auto gives it on copper of these lengths; none below. Chosen by us."""
    usual = "RS" if port.speed_mbit_per_s >= 25_000 else "None"
    active = port.faults.defects.fecs.get(port.interface, usual)
    return (
        f"FEC parameters for {port.interface}:\n"
        "Supported/Configured FEC encodings: Auto\n"
        f"Active FEC encoding: {active}\n"
    )


_SHOW: Mapping[str, Callable[[Call, NicPort], str]] = {
    "-S": lambda call, port: statistics(port),
    "-i": _driver,
    "-a": _pause,
    "-P": lambda call, port: f"Permanent address: {port.mac}\n",
    "--show-fec": _fec,
    "": _settings,
}
TOOLS: Tools = {"ethtool": _ethtool}
