"""mlnx_qos: its output, and the options that a lab has use for.

Behaviour, texts and their order follow the tool's source (Mellanox/mlnx-tools, python/mlnx_qos);
the layout is that of document 000's build (OFED 5.x): `default priority:` line, traffic class of
priority 0 first, no `max_buffer_size=`. Rate limits, default priorities and buffers by hand are not
emulated.
"""

from labtests.simlab.linux.calls import Call, Tools, screen
from labtests.simlab.linux.options import BadOption, Refused, only, read_options
from labtests.simlab.linux.qos import ETS, STRICT, VENDOR, QosState

WARNING = "****** WARNING: lldpad service is running and may overwrite your settings ******\n\n"
USAGE = "Usage: mlnx_qos -i <interface> [options]\n\n"
_OPTIONS = """-f,--pfc= -p,--prio_tc= -s,--tsa= -t,--tcbw= -r,--ratelimit= -d,--dcbx=
-i,--interface= -T,--trust= -D,--dscp2prio=* -P,--defltprio= -C,--cable_len= -B,--prio2buffer=
-S,--buffer_size= -a -h,--help -V,--version"""
_NOT_EMULATED = {"r": "--ratelimit", "P": "--defltprio", "B": "--prio2buffer", "S": "--buffer_size"}


def _refused(text: str) -> Refused:
    """With status 1, and words on stdout."""
    return Refused(printed=text)


def render(state: QosState, *, every_class: bool = False) -> str:
    """What the tool prints for these settings."""
    classes: dict[int, list[int]] = {tc: [] for tc in range(8)} if every_class else {}
    for priority, tc in enumerate(state.tc_of_priority):
        classes.setdefault(tc, []).append(priority)
    return screen("mlnx_qos", state=state, classes=classes)


def _mlnx_qos(call: Call) -> int:
    try:
        options, surplus = read_options(call.arguments, _OPTIONS)
    except BadOption as error:
        raise Refused(f"{USAGE}mlnx_qos: error: {_optparse(str(error))}\n", 2) from None
    if "h" in options or "V" in options:
        call.out(screen("mlnx_qos-help") if "h" in options else "mlnx_qos 1.2\n")
        return 0
    if surplus:
        raise _refused("Bad arguments\n" + USAGE)
    only([name for letter, name in _NOT_EMULATED.items() if letter in options])
    state = _state(call, options)
    if call.host.faults.lldpad:
        call.out(WARNING)
    _apply(call, state, options)
    call.out(render(state, every_class="a" in options))
    return 0


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
    _apply_ets(state, options)
    call.host.dcbx[options["i"]].update()


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


def _apply_ets(state: QosState, options: dict[str, str]) -> None:
    algorithms, shares = list(state.algorithms), list(state.bandwidth_percent)
    if "s" in options:
        algorithms = options["s"].split(",")
        for word in algorithms[:8]:
            if word not in (STRICT, ETS, VENDOR):
                raise _refused(f"('Bad TSA value: ', '{word}')\n{USAGE}")
        _eight(algorithms, "TSA", "tsa")
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


def _eight(words: list[str], description: str, name: str) -> None:
    if len(words) < 8:
        raise _refused(f"{name} list must have 8 items\n")
    if len(words) > 8:
        raise _refused(f"Too many items for {description}\n")


def _list(text: str, description: str, largest: int, name: str) -> list[int]:
    """Eight numbers with commas between them."""
    words = text.split(",")
    if len(words) > 8:
        raise _refused(f"Too many items for {description}\n")
    values = [_number(word, description, largest) for word in words]
    _eight(words, description, name)
    return values


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
