"""Programs that read and write CONFIG_DB."""

import json
from collections.abc import Callable, Mapping
from functools import partial
from itertools import chain

from labtests.simlab.data import beside
from labtests.simlab.linux.calls import Call
from labtests.simlab.linux.clicking import choice, confirmed, number, tabulated, usage
from labtests.simlab.linux.options import NotEmulated, Refused
from labtests.simlab.linux.processes import Program
from labtests.simlab.sonic import watchdog
from labtests.simlab.sonic.chassis import SonicChassis

# -- the database ----------------------------------------------------------------------------------


def _hset(box: SonicChassis, key: str, *pairs: str) -> str:
    table, _, name = key.partition("|")
    if not pairs or len(pairs) % 2:
        raise Refused("ERR wrong number of arguments for 'hset' command\n")
    told, before = dict(zip(pairs[::2], pairs[1::2], strict=True)), box.db.entry(table, name)
    box.write(table, {name: {**before, **told}})
    return f"{len(told.keys() - before.keys())}\n"


def _hdel(box: SonicChassis, key: str, *fields: str) -> str:
    table, _, name = key.partition("|")
    before = box.db.entry(table, name)
    box.write(table, {name: {each: before[each] for each in before if each not in fields}})
    return f"{len(before.keys() & fields)}\n"


def _del(box: SonicChassis, *keys: str) -> str:
    there = [key.split("|", 1) for key in keys if box.db.entry(*key.split("|", 1))]
    for table, name in there:
        box.write(table, {name: {}})
    return f"{len(there)}\n"


_REDIS: Mapping[str, Callable[..., str]] = {
    "HSET": _hset,
    "HDEL": _hdel,
    "DEL": _del,
    "HGETALL": lambda box, key: f"{box.db.entry(*key.split('|', 1))}\n",
}


def db_cli(box: SonicChassis, call: Call) -> str:
    """`sonic-db-cli CONFIG_DB ...`."""
    database, *words = call.arguments or ("",)
    if database != "CONFIG_DB" or not words or words[0].upper() not in _REDIS:
        raise NotEmulated(" ".join(call.arguments))
    return _REDIS[words[0].upper()](box, *words[1:])


def cfggen(box: SonicChassis, call: Call) -> str:
    """`sonic-cfggen [ -a JSON ] -d`, all of it or one table."""
    words, data = list(call.arguments), json.loads(whole(box))
    if words[:1] == ["-a"]:
        data = {**json.loads(words[1]), **data}
        del words[:2]
    if words == ["-d", "--print-data"]:
        return json.dumps(data, indent=4) + "\n"
    if words[:2] != ["-d", "--var-json"] or len(words) != 3:
        raise NotEmulated(f"sonic-cfggen {' '.join(call.arguments)}")
    return json.dumps(data[words[2]], indent=4) + "\n" if words[2] in data else ""


def whole(box: SonicChassis) -> str:
    """Tables without an entry are not in a Redis database."""
    return json.dumps({k: v for k, v in box.db.tables.items() if v}, indent=4) + "\n"


# -- config ----------------------------------------------------------------------------------------


def _pfc_priority(box: SonicChassis, port: str, priority: str, status: str) -> str:
    path = "config interface pfc priority"
    choice(path, "'PRIORITY'", priority, "01234567")
    choice(path, "'STATUS'", status, ("on", "off"))
    if port not in box.db.tables["PORT_QOS_MAP"]:
        return f"Cannot find interface {port}\n"
    enabled = {*box.db.entry("PORT_QOS_MAP", port).get("pfc_enable", "").split(",")} - {""}
    if (status == "on") == (priority in enabled):
        state = "has already been enabled" if status == "on" else "is not enabled"
        return f"Priority {priority} {state} on {port}\n"
    _hset(box, f"PORT_QOS_MAP|{port}", "pfc_enable", ",".join(sorted(enabled ^ {priority})))
    return ""


def _pfc_asymmetric(box: SonicChassis, port: str, status: str) -> str:
    choice("config interface pfc asymmetric", "'STATUS'", status, ("on", "off"))
    if port not in box.ports:
        return f"Cannot find interface {port}\n"
    return _of_port(box, port, "pfc_asym", status)


def _of_port(box: SonicChassis, port: str, field: str, value: str) -> str:
    if port not in box.ports:
        problem = "Interface name is invalid. Please enter a valid interface name!!"
        raise usage("config interface", problem)
    _hset(box, f"PORT|{port}", field, value)
    return ""


_SAVING = "Running command: /usr/local/bin/sonic-cfggen -d --print-data"
_SURE = "Existing files will be overwritten, continue? [y/N]: "


def save(box: SonicChassis, call: Call, given: tuple[str, ...]) -> Program:
    """`config save [ -y ] [ FILE ]`."""
    named = [each for each in given if each not in ("-y", "--yes")]
    if len(named) > 1 or any(each.startswith("-") for each in named):
        raise usage("config save", f"Got unexpected extra argument ({named[-1]})")
    if len(named) == len(given):
        yield from confirmed(call, _SURE)
    file = named[0] if named else "/etc/sonic/config_db.json"
    try:
        if named:
            call.host.tree.replace(call.path(file), whole(box), "root")
        else:
            box.save()
    except OSError as problem:
        raise Refused(f"sh: 1: cannot create {file}: {problem.strerror}\n", 2) from None
    call.out(f"{_SAVING} > {file}\n")
    return 0


_CURVE = {"max": "max_threshold", "min": "min_threshold", "drop": "drop_probability"}
_ECN = {
    f"-{colour[0]}{word}": f"{colour}_{field}"
    for colour in ("green", "yellow", "red")
    for word, field in _CURVE.items()
}


def ecn(box: SonicChassis, *given: str) -> str:
    """`ecnconfig -l`, or `-p PROFILE -gmin BYTES ...`; config says `-profile`."""
    profiles = box.db.tables["WRED_PROFILE"]
    if given in ((), ("-l",)):
        return "".join(_profile(*each) for each in profiles.items())
    if "-q" in given:
        raise NotEmulated(f"ecnconfig {' '.join(given)}")
    told = dict(zip(given[::2], given[1::2], strict=False))
    name = told.pop("-profile", told.pop("-p", ""))
    if name not in profiles:
        raise Refused(f"Error: profile name {name} does not exist\n")
    for option, value in told.items():
        if option not in _ECN or not value.isdecimal() or len(given) % 2:
            raise usage("config ecn", f"no such option or value: {option} {value}")
    profile = profiles[name] | {_ECN[each]: told[each] for each in told}
    if wrong := _wrong(profile):  # the program looks at the whole profile as it would be
        raise Refused("".join(f"Invalid {each}\n" for each in wrong) + _NO_SUCH_CURVE)
    box.write("WRED_PROFILE", {name: profile})
    return ""


_NO_SUCH_CURVE = "Exception caught:  Input arguments error. Invalid WRED profile parameters\n"


def _wrong(profile: Mapping[str, str]) -> list[str]:
    """What ecnconfig (sonic-utilities) finds wrong: probabilities first, and then thresholds."""
    told = {option[1:]: profile.get(field, "") for option, field in _ECN.items()}
    found = {name: int(value) for name, value in told.items() if value.isdecimal()}
    high = [name for name in ("gdrop", "ydrop", "rdrop") if found.get(name, 0) > 100]
    if high:
        return [f"{n} ({found[n]}). {n} should be an integer between 0 and 100." for n in high]
    crossed = [(f"{c}min", f"{c}max") for c in "gyr" if {f"{c}min", f"{c}max"} <= {*found}]
    return [f"{low} ({found[low]}) and {top} ({found[top]}). {low} should be smaller than {top}"
            for low, top in crossed if found[low] > found[top]]  # fmt: skip


def _profile(name: str, fields: Mapping[str, str]) -> str:
    widths = [max(map(len, column)) for column in zip(*fields.items(), strict=True)]
    ruler = "  ".join("-" * width for width in widths)
    rows = [f"{field:{widths[0]}}  {value}" for field, value in fields.items()]
    return "\n".join([f"Profile: {name}", ruler, *rows, ruler, "", ""])


CONFIG: Mapping[str, Callable[..., str | Program]] = {
    "interface pfc priority": _pfc_priority,
    "interface pfc asymmetric": _pfc_asymmetric,
    "interface mtu": lambda box, port, mtu: _of_port(box, port, "mtu", mtu),
    "interface shutdown": lambda box, port: _of_port(box, port, "admin_status", "down"),
    "interface startup": lambda box, port: _of_port(box, port, "admin_status", "up"),
    "save": save,
    "qos reload": lambda box: box.change(lambda: box.db.load("qos reload")) or "",
    "ecn": ecn,
    **{f"pfcwd {verb}": act for verb, act in watchdog.CHANGES.items()},
}

# -- counterpoll -----------------------------------------------------------------------------------

_POLLS = beside(__file__, "tables")["counterpoll"]
"""Intervals of queues and watermarks: counterpoll's source; of the others from memory."""


def _poll(box: SonicChassis, value: str, *, poll: str, field: str) -> str:
    if field == "POLL_INTERVAL":
        number(f"counterpoll {poll} interval", value, *_POLLS[poll]["interval ms"])
    for name in _POLLS[poll]["counters"]:
        _hset(box, f"FLEX_COUNTER_TABLE|{name}", field, value)
    return ""


def _polls(box: SonicChassis) -> str:
    keys = chain.from_iterable(each["counters"] for each in _POLLS.values())
    entries = {key: box.db.entry("FLEX_COUNTER_TABLE", key) for key in keys}
    rows = [(f"{key}_STAT", each.get("POLL_INTERVAL", "default (60000)"),
             each.get("FLEX_COUNTER_STATUS", "disable"))
            for key, each in entries.items() if each]  # fmt: skip
    return tabulated(("Type", "Interval (in ms)", "Status"), rows, right=False)


COUNTERPOLL: Mapping[str, Callable[..., str]] = {
    "show": _polls,
    **{f"{name} interval": partial(_poll, poll=name, field="POLL_INTERVAL") for name in _POLLS},
    **{f"{name} {word}": partial(_poll, poll=name, field="FLEX_COUNTER_STATUS", value=word)
       for name in _POLLS for word in ("enable", "disable")},
}  # fmt: skip
