"""mlnx_qos: its whole output grammar and options.

Behaviour, texts and their order follow the tool's source (Mellanox/mlnx-tools, python/mlnx_qos);
the layout of document 000's build (OFED 5.x) is the default: `default priority:` line, traffic
class of priority 0 first, no `max_buffer_size=`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

from labtests.simlab.linux.calls import Call, Tools
from labtests.simlab.linux.options import BadOption, Refused, read_options
from labtests.simlab.linux.ports import MAX_BUFFER_BYTES
from labtests.simlab.linux.qos import ETS, STRICT, VENDOR, QosState

VALUES_A_LINE = 8
WARNING = "****** WARNING: lldpad service is running and may overwrite your settings ******\n\n"
USAGE = "Usage: mlnx_qos -i <interface> [options]\n\n"
_OPTIONS = """-f,--pfc= -p,--prio_tc= -s,--tsa= -t,--tcbw= -r,--ratelimit= -d,--dcbx=
-i,--interface= -T,--trust= -D,--dscp2prio=* -P,--defltprio= -C,--cable_len= -B,--prio2buffer=
-S,--buffer_size= -a -h,--help -V,--version"""


def _refused(text: str) -> Refused:
    """With status 1, and words on stdout."""
    return Refused(printed=text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """What differs between builds of the tool and adapters."""

    default_priority: bool = True
    buffer_sizes: bool = True
    buffer_row: bool = True
    max_buffer_bytes: int | None = None
    classes: bool = True
    classes_sorted: bool = False


DOCUMENT_000 = Layout()


def render(state: QosState, layout: Layout, *, every_class: bool = False) -> str:
    """What the tool prints for these settings."""
    mode = "OS" if state.dcbx == "os" else "Firmware"
    lines = [f"DCBX mode: {mode} controlled", f"Priority trust state: {state.trust}"]
    if state.trust == "dscp":
        lines += ["dscp2prio mapping:", *_mapping(state)]
    if layout.default_priority:
        lines.append("default priority:")
        lines += [f"\tprio:{priority}" for priority in state.default_priorities]
    if layout.buffer_sizes:
        limit = layout.max_buffer_bytes
        tail = "" if limit is None else f"max_buffer_size={limit}"
        sizes = "".join(f"{size}," for size in state.buffer_bytes)
        lines.append(f"Receive buffer size (bytes): {sizes}{tail}")
    lines += [f"Cable len: {state.cable_length_m}", "PFC configuration:"]
    lines.append("\tpriority    " + "   ".join(str(priority) for priority in range(8)))
    lines.append(_row("enabled", [int(priority in state.pfc) for priority in range(8)]))
    if layout.buffer_row:
        lines.append(_row("buffer ", state.buffer_of))
    if layout.classes:
        lines += _classes(state, layout, every_class=every_class)
    return "".join(line + "\n" for line in lines)


def _row(name: str, values: Sequence[int]) -> str:
    return f"\t{name}     " + "".join(f"{value}   " for value in values)


def _mapping(state: QosState) -> list[str]:
    lines: list[str] = []
    entries = state.dscps()
    for priority in range(8):
        values = [dscp for dscp, mapped in entries if mapped == priority]
        for at in range(0, len(values), VALUES_A_LINE):
            shown = "".join(f"{dscp:02}," for dscp in values[at : at + VALUES_A_LINE])
            lines.append(f"\tprio:{priority} dscp:{shown}")
    return lines


def _classes(state: QosState, layout: Layout, *, every_class: bool) -> list[str]:
    members: dict[int, list[int]] = {tc: [] for tc in range(8)} if every_class else {}
    for priority, tc in enumerate(state.tc_of_priority):
        members.setdefault(tc, []).append(priority)
    lines: list[str] = []
    for tc in sorted(members) if layout.classes_sorted else members:
        limit = state.ratelimit_gbit_per_s[tc]
        rate = f"{limit:.1f} Gbps" if limit else "unlimited"
        algorithm = state.algorithms[tc]
        if algorithm == ETS:
            algorithm = f"ets, bw: {state.bandwidth_percent[tc]}%"
        lines.append(f"tc: {tc} ratelimit: {rate}, tsa: {algorithm}")
        lines += [f"\t priority:  {priority}" for priority in members[tc]]
    return lines


def _mlnx_qos(call: Call) -> int:
    try:
        options, surplus = read_options(call.arguments, _OPTIONS)
    except BadOption as error:
        raise Refused(f"{USAGE}mlnx_qos: error: {_optparse(str(error))}\n", 2) from None
    if "h" in options or "V" in options:
        call.out(_help() if "h" in options else "mlnx_qos 1.2\n")
        return 0
    if surplus:
        raise _refused("Bad arguments\n" + USAGE)
    state = _state(call, options)
    if call.host.faults.lldpad:
        call.out(WARNING)
    _apply(call, state, options)
    call.out(render(state, DOCUMENT_000, every_class="a" in options))
    return 0


def _help() -> str:
    return resources.files(__package__).joinpath("mlnx_qos_help.txt").read_text("utf-8")


def _optparse(text: str) -> str:
    """getopt's words as Python's optparse says them."""
    if text.startswith("unrecognized option '"):
        return "no such option: " + text.split("'")[1]
    if text.startswith("invalid option -- '"):
        return "no such option: -" + text.split("'")[1]
    return text.replace("requires an argument", "requires 1 argument")


def _state(call: Call, options: dict[str, str]) -> QosState:
    if "i" not in options:
        raise _refused("Interface name is required\n" + USAGE)
    if options["i"] not in call.host.qos:
        # the words for a missing interface are netlink's (not seen in a recording)
        raise _refused("Netlink error: No such device\n")
    return call.host.qos[options["i"]]


def _apply(call: Call, state: QosState, options: dict[str, str]) -> None:
    """In the tool's order: what comes before a refusal has happened."""
    if set(options) - {"i", "a"} and call.process.user != "root":
        raise _refused("[Errno 1] Operation not permitted\n")
    if call.host.faults.lies:
        return
    _apply_dcbx_and_pfc(state, options)
    _apply_dscp(state, options)
    _apply_buffers(state, options)
    if "r" in options:
        rates = _list(options["r"], "ratelimit", 1_000_000)
        state.ratelimit_gbit_per_s = [*rates, *state.ratelimit_gbit_per_s[len(rates) :]]
    _apply_ets(state, options)


def _apply_dcbx_and_pfc(state: QosState, options: dict[str, str]) -> None:
    if options.get("d", "get") not in ("os", "fw", "get"):
        raise _refused("Invalid dcbx mode command. Refer to the help.\n")
    if options.get("d", "get") != "get":
        state.dcbx = options["d"]
    cable = _number(options["C"], "cable_len", 0xFFFF) if "C" in options else None
    if "f" in options:
        flags = _list(options["f"], "PFC", 1, "pfc")
        state.set_pfc(frozenset(priority for priority, flag in enumerate(flags) if flag))
    if cable is not None:
        state.cable_length_m = cable


def _apply_dscp(state: QosState, options: dict[str, str]) -> None:
    mappings = options["D"].split("\n") if "D" in options else []
    if mappings and "T" in options:
        raise _refused("trust and dscp2prio commands cannot be used at the same time.\n")
    for action, dscp, priority in [_mapping_command(command) for command in mappings]:
        _apply_mapping(state, action, dscp, priority)
    if "P" in options:
        _apply_default_priority(state, options["P"])
    if options.get("T", "pcp") not in ("pcp", "dscp"):
        raise _refused("Invalid trust state command. Refer to the help.\n")
    if "T" in options:
        state.set_trust(options["T"])


def _apply_mapping(state: QosState, action: str, dscp: int, priority: int) -> None:
    if action == "set":
        state.set_dscp(dscp, priority)
    elif action == "flush":
        state.set_trust("pcp")
    else:
        try:
            state.delete_dscp(dscp, priority)
        except KeyError:
            raise _refused("dscp2prio command failed\n") from None


def _apply_default_priority(state: QosState, command: str) -> None:
    action, _, word = command.partition(",")
    if action not in ("set", "del") or word not in "01234567" or not word:
        raise _refused("Invalid defltprio command. Refer to the help.\n")
    priority = int(word)
    if action == "set":
        state.default_priorities = [priority]
    elif priority in state.default_priorities:
        state.default_priorities.remove(priority)
    else:
        raise _refused("defltprio command failed\n")


def _mapping_command(command: str) -> tuple[str, int, int]:
    if command == "flush":
        return command, 0, 0
    try:
        action, dscp, priority = command.split(",")
        found = action, int(dscp), int(priority)
    except ValueError:
        raise _refused("Invalid dscp2prio command. Refer to the help.\n") from None
    if found[0] not in ("set", "del") or not 0 <= found[1] <= 63 or not 0 <= found[2] <= 7:
        raise _refused("Invalid dscp2prio command. Refer to the help.\n")
    return found


def _apply_buffers(state: QosState, options: dict[str, str]) -> None:
    if "B" not in options and "S" not in options:
        return
    buffer_of, sizes = list(state.buffer_of), list(state.buffer_bytes)
    if "B" in options:
        values = _list(options["B"], "prio buffer", 7, many="prio2buffer")
        buffer_of[: len(values)] = values
    if "S" in options:
        values = _list(options["S"], "buffer size", MAX_BUFFER_BYTES, many="buffer_size")
        sizes[: len(values)] = values
    try:
        state.set_buffers(buffer_of, sizes)
    except ValueError:
        raise _refused("Buffers commands error\n") from None


def _apply_ets(state: QosState, options: dict[str, str]) -> None:
    algorithms, shares = list(state.algorithms), list(state.bandwidth_percent)
    if "s" in options:
        algorithms = options["s"].split(",")
        for word in algorithms[:8]:
            if word not in (STRICT, ETS, VENDOR):
                raise _refused(f"('Bad TSA value: ', '{word}')\n{USAGE}")
        _expect_eight(algorithms, "TSA", "tsa")
    if "t" in options:
        shares = _list(options["t"], "ETS BW", 100, "tcbw")
        if any(share and algorithms[tc] != ETS for tc, share in enumerate(shares)):
            raise _refused("ETS BW for a strict/vendor TC must be 0\n" + USAGE)
    total = sum(share for tc, share in enumerate(shares) if algorithms[tc] == ETS)
    if ETS in algorithms and total != 100:
        raise _refused("Netlink error: Bad value. see dmesg.\n")
    if "p" in options:
        state.tc_of_priority = _list(options["p"], "UP => TC mapping", 7, "prio_tc")
    state.algorithms, state.bandwidth_percent = algorithms, shares


def _list(
    text: str, description: str, largest: int, name: str | None = None, *, many: str | None = None
) -> list[int]:
    """Comma separated numbers: at most 8, and exactly 8 when the list has a name."""
    words = text.split(",")
    if len(words) > 8:
        raise _refused(f"Too many items for {many or description}\n")
    values = [_number(word, description, largest) for word in words]
    if name is not None:
        _expect_eight(words, description, name)
    return values


def _expect_eight(words: list[str], description: str, name: str) -> None:
    if len(words) > 8:
        raise _refused(f"Too many items for {description}\n")
    if len(words) < 8:
        raise _refused(f"{name} list must have 8 items\n")


def _number(word: str, description: str, largest: int) -> int:
    try:
        value = int(word)
    except ValueError:
        problem = f"invalid literal for int() with base 10: '{word}'"
        raise _refused(f"Bad value for {description}: {problem}\n{USAGE}") from None
    if not 0 <= value <= largest:
        problem = f"{value} is not in the range 0..{largest}"
        raise _refused(f"Bad value for {description}: {problem}\n{USAGE}")
    return value


TOOLS: Tools = {"mlnx_qos": _mlnx_qos}
