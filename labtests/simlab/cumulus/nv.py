"""The program `nv`: show, set, unset and config. Tables are those of QoS, others only `-o json`."""

import json
from collections.abc import Mapping
from typing import Any

from labtests.simlab.cumulus import showing
from labtests.simlab.cumulus.chassis import CumulusChassis
from labtests.simlab.cumulus.model import NoSuchPort, Place, flat, places, put, take
from labtests.simlab.cumulus.roce import screened
from labtests.simlab.linux.calls import Call
from labtests.simlab.linux.options import NotEmulated, Refused

_INVALID = "Error: Invalid Command\n"
_OPTIONS = {"-o": "", "--output": "", "--rev": "", "--applied": "applied", "--pending": "pending",
            "--operational": "operational", "-y": "yes", "--assume-yes": "yes"}  # fmt: skip
_OBJECTS = {"acl", "bridge", "evpn", "maintenance", "mlag", "nve", "platform", "router", "service",
            "system", "vrf"}  # fmt: skip
_OF_QOS = {"advance-buffer-config", "buffer", "link-pause", "remark"}
"""What NVUE has beside what is emulated (its command reference)."""


def nv(box: CumulusChassis, call: Call) -> str:
    """One line."""
    words, options = _read(call.arguments)
    verb, rest = (words[:1] or ("",))[0], words[1:]
    user = call.process.user
    if verb in ("set", "unset"):
        return _change(box, user, verb, rest)
    if verb == "show":
        return _show(box, user, rest, options)
    if verb == "config":
        return _config(box, user, rest, options)
    match words:
        case ("action", "clear", "interface", port, "qos", "pfc-watchdog", "deadlock-count"):
            box.clear_deadlocks(port)
            return "Action succeeded\n"
        case ("action" | "list-commands", *_):
            raise NotEmulated(f"nv {' '.join(words)}")
    raise Refused(_INVALID)


def _read(arguments: tuple[str, ...]) -> tuple[Place, Mapping[str, str]]:
    words, options = [], {}
    given = iter(arguments)
    for each in given:
        name, equals, value = each.partition("=")
        if not each.startswith("-"):
            words.append(each)
        elif name not in _OPTIONS:
            raise NotEmulated(f"nv {each}")
        else:
            options[name] = _OPTIONS[name] or (value if equals else next(given, ""))
    return tuple(words), options


def _change(box: CumulusChassis, user: str, verb: str, words: Place) -> str:
    try:
        found = places(words, box.ports, to_set=verb == "set")
    except NoSuchPort as port:
        told = "Valid interface types are swp, eth, bond, loopback."
        raise Refused(f"Error: '{port.name}' is not a 'interface-name'. {told}\n") from None
    if not found and (set(words[:1]) & _OBJECTS or set(words[1:4]) & _OF_QOS):
        raise NotEmulated(f"nv {verb} {' '.join(words)}")
    if not found:
        raise Refused(_INVALID)
    tree, said = box.revisions.begin(user)
    for path, value in found:
        if verb == "set":
            put(tree, path, value)
        else:
            take(tree, path)
    return said


def _show(box: CumulusChassis, user: str, path: Place, options: Mapping[str, str]) -> str:
    if options.get("-o", options.get("--output")) != "json":
        return ("" if options else screened(box, path)) or showing.table(box, path, options)
    tree, named = box.revisions.tree, {*options.values(), *options}
    if "pending" in named:
        tree = box.revisions.pending.get(user, (0, tree))[1]
    if named & {"applied", "pending"}:
        return _json(showing.settings(box, path, tree))
    return _json(showing.operational(box, path))


def _config(box: CumulusChassis, user: str, words: Place, options: Mapping[str, str]) -> str:
    revisions, (verb, *rest) = box.revisions, words or ("",)
    if verb == "apply" and len(rest) <= 1:
        return box.commit(user, *rest)
    if verb == "detach" and not rest:
        revisions.detach(user)
        return ""
    if verb == "save" and not rest:
        revisions.startup = revisions.tree
        return "saved [rev_id: applied]\n"
    if verb in ("history", "revision") and not rest:
        return _json(revisions.states()) if "json" in options.values() else revisions.table()
    if verb in ("diff", "show") and not rest:
        return _difference(box, user, verb, options)
    raise Refused(_INVALID)


def _difference(box: CumulusChassis, user: str, verb: str, options: Mapping[str, str]) -> str:
    if options.get("-o", options.get("--output")) != "commands":
        raise NotEmulated(f"nv config {verb} without -o commands")
    new, gone = box.revisions.differences(user)
    if verb == "show":
        new, gone = list(flat(box.revisions.tree)), []
    told = [("unset", *path) for path in gone]
    told += [("set", *path, *([] if each == {} else [str(each)])) for path, each in new]
    return "".join(f"nv {' '.join(words)}\n" for words in told)


def _json(shown: Any) -> str:
    return json.dumps(shown, indent=2, sort_keys=True) + "\n"
