"""`pfcwd`: the PFC watchdog's entries of CONFIG_DB, and what it did. By sonic-utilities' pfcwd."""

from collections.abc import Callable, Iterator, Mapping

from labtests.simlab.linux.calls import Call
from labtests.simlab.linux.clicking import chosen, expect_root, tabulated, usage
from labtests.simlab.linux.options import NotEmulated, Refused
from labtests.simlab.sonic.chassis import SonicChassis

_QUEUES = range(8)
_CONFIG = {
    "ACTION": ("action", "drop"),
    "DETECTION TIME": ("detection_time", "N/A"),
    "RESTORATION TIME": ("restoration_time", "infinite"),
    "HISTORY": ("pfc_stat_history", "disable"),
}
_STATS = (
    *("QUEUE", "STATUS", "STORM DETECTED/RESTORED", "TX OK/DROP", "RX OK/DROP"),
    *("TX LAST OK/DROP", "RX LAST OK/DROP"),
)
Given = tuple[str, ...]


def _row(box: SonicChassis, port: str, queue: int) -> Given:
    """Packets that pass a shut queue are not counted apart in the network: 0."""
    network, guard = box.network, box.db.guard(port)
    counts = network.guards.counters(port)[queue] if port in network.ports else None
    if counts is None:
        return f"{port}:{queue}", "N/A", *["0/0"] * 5
    watched = guard is not None and queue in (guard.priorities or ())
    status = ("stormed" if counts.shut else "operational") if watched else "N/A"
    return (
        f"{port}:{queue}",
        status,
        f"{counts.shutdowns}/{counts.restored}",
        f"0/{counts.aggregate_dropped}",
        f"0/{counts.aggregate_ingress_dropped}",
        f"0/{counts.dropped}",
        f"0/{counts.ingress_dropped}",
    )


def _named(box: SonicChassis, given: Given) -> Iterator[tuple[str, int]]:
    for name in given or [f"{port}:{queue}" for port in box.ports for queue in _QUEUES]:
        port, _, queue = name.partition(":")
        if port in box.ports and queue in map(str, _QUEUES):
            yield port, int(queue)


def _stats(box: SonicChassis, given: Given) -> str:
    empty = {"-e", "--empty"} & {*given}
    named = tuple(each for each in given if each not in ("-e", "--empty"))
    rows = [_row(box, *each) for each in _named(box, named)]
    return tabulated(_STATS, [row for row in rows if empty or {*row[2:]} != {"0/0"}])


def _config(box: SonicChassis, given: Given) -> str:
    entries = {port: box.db.entry("PFC_WD", port) for port in given or box.ports}
    rows = [(port, *(entry.get(field, usual) for field, usual in _CONFIG.values()))
            for port, entry in entries.items() if entry]  # fmt: skip
    poll = box.db.entry("PFC_WD", "GLOBAL").get("POLL_INTERVAL") if rows else None
    changed = f"Changed polling interval to {poll}ms\n" if poll else ""
    return changed + tabulated(("PORT", *_CONFIG), rows)


def number(path: str, text: str, low: int, high: int) -> str:
    """A whole number in a range. Raises Refused."""
    if not text.isascii() or not text.isdigit() or not low <= int(text) <= high:
        raise usage(path, f"Invalid value: {text} is not in the valid range of {low} to {high}.")
    return text


def _start(box: SonicChassis, given: Given) -> str:
    options, words, rest = {"-a": "drop", "-r": ""}, [], list(given)
    long = {"--action": "-a", "--restoration-time": "-r"}
    while rest:
        word = rest.pop(0)
        if (name := long.get(word, word)) in options and rest:
            options[name] = rest.pop(0)
        elif word.startswith("-"):
            raise NotEmulated(f"pfcwd start {word}")
        else:
            words.append(word)
    if not words or options["-a"] not in ("drop", "forward", "alert"):
        raise usage("pfcwd start", 'Missing argument "DETECTION_TIME".')
    *ports, detection = words
    detection = number("pfcwd start", detection, 100, 5000)
    told, restoration = "", options["-r"]
    if not restoration:
        restoration = str(2 * int(detection))
        told = (
            f"restoration time not defined; default to 2 times detection time: {restoration} ms\n"
        )
    entry = {"detection_time": detection, "action": options["-a"], "pfc_stat_history": "disable"}
    entry["restoration_time"] = number("pfcwd start", restoration, 100, 60_000)
    if unknown := [port for port in ports if port not in (*box.ports, "all")]:
        lines = "\n".join(["Failed to run command, invalid options:", *unknown])
        raise Refused(status=1, printed=f"{lines}\n")
    meant = box.ports if "all" in ports or not ports else tuple(ports)
    enabled = [p for p in meant if "pfc_enable" in box.db.entry("PORT_QOS_MAP", p)]
    told += "".join(f"SKIPPED: PFC is not enabled on port: {port}\n"
                    for port in meant if port not in enabled)  # fmt: skip
    box.change(lambda: box.db.tables["PFC_WD"].update({port: dict(entry) for port in enabled}))
    return told


def _stop(box: SonicChassis, given: Given) -> str:
    def act() -> None:
        for port in given or box.ports:
            box.db.tables["PFC_WD"].pop(port, None)

    box.change(act)
    return ""


def _interval(box: SonicChassis, given: Given) -> str:
    if len(given) != 1:
        raise usage("pfcwd interval", 'Missing argument "POLL_INTERVAL".')
    poll = number("pfcwd interval", given[0], 100, 1000)
    for field in ("detection_time", "restoration_time"):
        told = [int(e[field]) for e in box.db.tables["PFC_WD"].values() if field in e]
        if min(told, default=1000) < int(poll):
            raise Refused(
                f"unable to use polling interval = {poll}ms, value is bigger than one of the "
                f"configured {field.replace('_', ' ')} values, please choose a smaller "
                "polling_interval\n"
            )
    box.change(lambda: box.db.tables["PFC_WD"].setdefault("GLOBAL", {}).update(POLL_INTERVAL=poll))
    return ""


COMMANDS: Mapping[str, Callable[[SonicChassis, Given], str]] = {
    "show stats": _stats,
    "show config": _config,
    "start": _start,
    "stop": _stop,
    "interval": _interval,
}


def pfcwd(box: SonicChassis, call: Call) -> str:
    """The program."""
    act: Callable[[SonicChassis, Given], str]
    act, rest = chosen(call, COMMANDS)
    if not call.arguments[0].startswith("show"):
        expect_root(call)
    return act(box, rest)
