"""Programs that read and write CONFIG_DB."""

import json
from collections.abc import Callable, Mapping
from inspect import signature

from labtests.simlab.linux.calls import Call
from labtests.simlab.linux.clicking import chosen, tabulated, usage
from labtests.simlab.linux.options import NotEmulated, Refused
from labtests.simlab.sonic.chassis import SonicChassis

# -- the database ----------------------------------------------------------------------------------


def _hset(box: SonicChassis, key: str, *pairs: str) -> str:
    table, _, name = key.partition("|")
    if not pairs or len(pairs) % 2:
        raise Refused("ERR wrong number of arguments for 'hset' command\n")
    told = dict(zip(pairs[::2], pairs[1::2], strict=True))
    new = told.keys() - box.db.entry(table, name).keys()
    box.change(lambda: box.db.tables.setdefault(table, {}).setdefault(name, {}).update(told))
    return f"{len(new)}\n"


def _hdel(box: SonicChassis, key: str, *fields: str) -> str:
    table, _, name = key.partition("|")
    there = [each for each in fields if each in box.db.entry(table, name)]

    def act() -> None:
        for each in there:
            del box.db.tables[table][name][each]
        if there and not box.db.tables[table][name]:
            del box.db.tables[table][name]

    box.change(act)
    return f"{len(there)}\n"


def _del(box: SonicChassis, *keys: str) -> str:
    there = [key.split("|", 1) for key in keys if box.db.entry(*key.split("|", 1))]

    def act() -> None:
        for table, name in there:
            del box.db.tables[table][name]

    box.change(act)
    return f"{len(there)}\n"


REDIS: Mapping[str, Callable[..., str]] = {
    "HSET": _hset,
    "HDEL": _hdel,
    "DEL": _del,
    "HGETALL": lambda box, key: f"{box.db.entry(*key.split('|', 1))}\n",
}


def _db_cli(box: SonicChassis, call: Call) -> str:
    database, *words = call.arguments or ("",)
    if database != "CONFIG_DB" or not words or words[0].upper() not in REDIS:
        raise NotEmulated(" ".join(call.arguments))
    return REDIS[words[0].upper()](box, *words[1:])


def _cfggen(box: SonicChassis, call: Call) -> str:
    """Tables without an entry are not in a Redis database."""
    words, data = list(call.arguments), {k: v for k, v in box.db.tables.items() if v}
    if words[:1] == ["-a"]:
        data = {**json.loads(words[1]), **data}
        del words[:2]
    if words == ["-d", "--print-data"]:
        return json.dumps(data, indent=4) + "\n"
    if words[:2] != ["-d", "--var-json"] or len(words) != 3:
        raise NotEmulated(f"sonic-cfggen {' '.join(call.arguments)}")
    return json.dumps(data[words[2]], indent=4) + "\n" if words[2] in data else ""


# -- config ----------------------------------------------------------------------------------------


def _pfc_priority(box: SonicChassis, port: str, priority: str, status: str) -> str:
    if priority not in "01234567" or status not in ("on", "off"):
        raise usage("config interface pfc priority", f"Invalid value: {priority} {status}")
    if port not in box.db.tables["PORT_QOS_MAP"]:
        return f"Cannot find interface {port}\n"
    told = box.db.entry("PORT_QOS_MAP", port).get("pfc_enable", "")
    enabled = {each for each in told.split(",") if each}
    if (status == "on") == (priority in enabled):
        state = "has already been enabled" if status == "on" else "is not enabled"
        return f"Priority {priority} {state} on {port}\n"
    _hset(box, f"PORT_QOS_MAP|{port}", "pfc_enable", ",".join(sorted(enabled ^ {priority})))
    return ""


def _of_port(box: SonicChassis, port: str, field: str, value: str) -> str:
    if port not in box.ports:
        raise usage(
            "config interface", "Interface name is invalid. Please enter a valid interface name!!"
        )
    _hset(box, f"PORT|{port}", field, value)
    return ""


_SAVING = "Running command: /usr/local/bin/sonic-cfggen -d --print-data"


def _save(box: SonicChassis, *options: str) -> str:
    if options != ("-y",):
        raise NotEmulated("config save without -y")
    box.save()
    return f"{_SAVING} > /etc/sonic/config_db.json\n"


def _reload_qos(box: SonicChassis) -> str:
    box.change(box.db.reload_qos)
    return ""


CONFIG: Mapping[str, Callable[..., str]] = {
    "interface pfc priority": _pfc_priority,
    "interface pfc asymmetric": lambda box, port, on: _of_port(box, port, "pfc_asym", on),
    "interface mtu": lambda box, port, mtu: _of_port(box, port, "mtu", mtu),
    "interface shutdown": lambda box, port: _of_port(box, port, "admin_status", "down"),
    "interface startup": lambda box, port: _of_port(box, port, "admin_status", "up"),
    "save": _save,
    "qos reload": _reload_qos,
}


POLLS = {"port": "PORT", "queue": "QUEUE", "pg-drop": "PG_DROP", "wredqueue": "WRED_ECN_QUEUE"}


def _polled(name: str, field: str, *value: str) -> Callable[..., str]:
    def act(box: SonicChassis, *given: str) -> str:
        _hset(box, f"FLEX_COUNTER_TABLE|{POLLS[name]}", field, *value, *given)
        return ""

    return act


def _polls(box: SonicChassis) -> str:
    entries = {key: box.db.entry("FLEX_COUNTER_TABLE", key) for key in POLLS.values()}
    rows = [(f"{key}_STAT", each["POLL_INTERVAL"], each["FLEX_COUNTER_STATUS"])
            for key, each in entries.items()]  # fmt: skip
    return tabulated(("Type", "Interval (in ms)", "Status"), rows, right=False)


COUNTERPOLL: Mapping[str, Callable[..., str]] = {
    "show": _polls,
    **{f"{name} interval": _polled(name, "POLL_INTERVAL") for name in POLLS},
    **{f"{name} {word}": _polled(name, "FLEX_COUNTER_STATUS", word)
       for name in POLLS for word in ("enable", "disable")},
}  # fmt: skip


def _program(commands: Mapping[str, Callable[..., str]]) -> Callable[[SonicChassis, Call], str]:
    def run(box: SonicChassis, call: Call) -> str:
        act, rest = chosen(call, commands)
        if commands is CONFIG and call.process.user != "root":
            raise Refused("Root privileges are required for this operation\n")
        try:
            signature(act).bind(box, *rest)
        except TypeError:
            raise usage(f"{call.name} {' '.join(call.arguments)}", "Missing argument.") from None
        return str(act(box, *rest))

    return run


TOOLS: Mapping[str, Callable[[SonicChassis, Call], str]] = {
    "sonic-db-cli": _db_cli,
    "sonic-cfggen": _cfggen,
    "config": _program(CONFIG),
    "counterpoll": _program(COUNTERPOLL),
}
