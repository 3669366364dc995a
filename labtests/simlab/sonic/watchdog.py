"""`pfcwd`: the PFC watchdog's entries of CONFIG_DB, and what it did. By sonic-utilities' pfcwd."""

from collections.abc import Callable, Mapping

from labtests.network import PfcWatchdog
from labtests.simlab.data import beside
from labtests.simlab.linux.clicking import choice, number, tabulated, usage
from labtests.simlab.linux.options import Refused, read_options
from labtests.simlab.sonic.chassis import SonicChassis

_TABLES = beside(__file__, "tables")


def _row(box: SonicChassis, port: str, queue: int) -> tuple[str, ...]:
    """Packets that pass a shut queue are not counted apart in the network: 0."""
    if port not in box.network.ports:
        return f"{port}:{queue}", "N/A", *["0/0"] * 5
    counts, guard = box.network.guards.counters(port)[queue], box.network.guards.get(port)
    watched = isinstance(guard, PfcWatchdog) and queue in (guard.priorities or ())
    dropped = (counts.aggregate_dropped, counts.aggregate_ingress_dropped)
    last_dropped = (counts.dropped, counts.ingress_dropped)
    return (
        f"{port}:{queue}",
        ("stormed" if counts.shut else "operational") if watched else "N/A",
        f"{counts.shutdowns}/{counts.restored}",
        *(f"0/{packets}" for packets in (*dropped, *last_dropped)),
    )


def _stats(box: SonicChassis, *given: str) -> str:
    options, names = read_options(given, "-e,--empty")
    every = {f"{port}:{queue}": (port, queue) for port in box.ports for queue in range(8)}
    rows = [_row(box, *every[name]) for name in names or every if name in every]
    return tabulated(
        _TABLES["pfcwd show stats"], [row for row in rows if options or {*row[2:]} != {"0/0"}]
    )


def _config(box: SonicChassis, *ports: str) -> str:
    entries = {port: box.db.entry("PFC_WD", port) for port in ports or box.ports}
    told = _TABLES["pfcwd show config"]
    rows = [(port, *(entry.get(field, usual) for field, usual in told.values()))
            for port, entry in entries.items() if entry]  # fmt: skip
    poll = box.db.entry("PFC_WD", "GLOBAL").get("POLL_INTERVAL") if rows else None
    changed = f"Changed polling interval to {poll}ms\n" if poll else ""
    return changed + tabulated(("PORT", *told), rows)


def _start(box: SonicChassis, *given: str) -> str:
    options, words = read_options(given, "-a,--action= -r,--restoration-time=")
    entry, told = dict[str, str](), ""
    if "a" in options:
        known = ("drop", "forward", "alert")
        entry["action"] = choice("pfcwd start", "'--action' / '-a'", options["a"], known)
    if not words:
        raise usage("pfcwd start", 'Missing argument "DETECTION_TIME".')
    *ports, detection = words
    number("pfcwd start", detection, 100, 5000)
    if "r" not in options:
        options["r"] = str(2 * int(detection))
        told = "restoration time not defined; default to 2 times detection time: "
        told += f"{options['r']} ms\n"
    entry["detection_time"] = detection
    entry["restoration_time"] = number("pfcwd start", options["r"], 100, 60_000)
    if unknown := [port for port in ports if port not in (*box.ports, "all")]:
        lines = "\n".join(["Failed to run command, invalid options:", *unknown])
        raise Refused(status=1, printed=f"{lines}\n")
    meant = box.ports if "all" in ports or not ports else tuple(ports)
    enabled = [p for p in meant if "pfc_enable" in box.db.entry("PORT_QOS_MAP", p)]
    told += "".join(f"SKIPPED: PFC is not enabled on port: {port}\n"
                    for port in meant if port not in enabled)  # fmt: skip
    for port in enabled:
        history = box.db.entry("PFC_WD", port).get("pfc_stat_history", "disable")
        box.write("PFC_WD", {port: {}})
        box.write("PFC_WD", {port: {**entry, "pfc_stat_history": history}})
    return told


def _stop(box: SonicChassis, *ports: str) -> str:
    box.write("PFC_WD", {port: {} for port in ports or box.ports})
    return ""


def _interval(box: SonicChassis, poll: str = "") -> str:
    if not poll:
        raise usage("pfcwd interval", 'Missing argument "POLL_INTERVAL".')
    number("pfcwd interval", poll, 100, 1000)
    for field in ("detection_time", "restoration_time"):
        told = [int(e[field]) for e in box.db.tables["PFC_WD"].values() if field in e]
        if min(told, default=1000) < int(poll):
            raise Refused(
                f"unable to use polling interval = {poll}ms, value is bigger than one of the "
                f"configured {field.replace('_', ' ')} values, please choose a smaller "
                "polling_interval\n"
            )
    box.write("PFC_WD", {"GLOBAL": box.db.entry("PFC_WD", "GLOBAL") | {"POLL_INTERVAL": poll}})
    return ""


SHOWN: Mapping[str, Callable[..., str]] = {"config": _config, "stats": _stats}
CHANGES: Mapping[str, Callable[..., str]] = {"start": _start, "stop": _stop, "interval": _interval}
COMMANDS = {**{f"show {name}": act for name, act in SHOWN.items()}, **CHANGES}
