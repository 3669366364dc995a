"""Answers in JSON, by the fields that are needed.

    PORT = Fields({"interface": "name", "state?": "state:up|down"}, make=Port)
    read_json(reply, Fields({"TABLE_interface": ("ports", Rows(PORT))}), NXOS)

What a field holds is `name:kind`, or the name and what is in it: `Fields`, or `Rows` of something.
The kinds `whole` and `word` are a number and a text also in JSON. A field that is not declared is
refused, read as `rest` says, or passed over where the object is `open`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from labtests.core.output import excerpt
from labtests.drivers.displays.json_answers import json_shown
from labtests.drivers.displays.lines import Notation
from labtests.drivers.displays.shapes import made
from labtests.drivers.parsing import kept, refuse
from labtests.transport.protocol import Reply

_TYPES = {"whole": (int,), "word": (str,)}


@dataclass(frozen=True, slots=True)
class Fields:
    """An object: what each field holds (a name with `?` may be absent), and what it makes."""

    fields: Mapping[str, Any]
    make: Callable[..., Any] = dict
    rest: str = ""
    open: bool = False


@dataclass(frozen=True, slots=True)
class Rows:
    """A list."""

    of: Any


def read_json(reply: Reply, what: Any, notation: Notation) -> Any:
    """An answer that is one such value."""
    return _ObjectReading(reply, notation).value(what, json_shown(reply), "it")


@dataclass(frozen=True, slots=True)
class _ObjectReading:
    reply: Reply
    notation: Notation

    def value(self, what: Any, shown: Any, where: str) -> Any:
        if isinstance(what, Rows):
            if not isinstance(shown, list):
                self._refuse(where, "a list", shown)
            return tuple(self.value(what.of, row, f"{where} {n}") for n, row in enumerate(shown))
        if isinstance(what, str):
            return next(iter(self._scalar(what, shown, where).values()), None)
        if not isinstance(shown, dict):
            self._refuse(where, "an object", shown)
        return self._object(what, shown, where)

    def _object(self, what: Fields, shown: dict[str, Any], where: str) -> Any:
        declared = {name.removesuffix("?"): name for name in what.fields}
        values: dict[str, Any] = {}
        for name, declaration in declared.items():
            if name in shown:
                values |= self._field(what.fields[declaration], shown[name], f"{where}: {name}")
            elif declaration == name:
                refuse(self.reply, f"{where} lacks the field {name!r}")
        rest = {name: each for name, each in shown.items() if name not in declared}
        if rest and not what.rest and not what.open:
            refuse(self.reply, f"{where} has the field {min(rest)!r}, which is unrecognised")
        if what.rest:
            name, _, kind = what.rest.partition(":")
            values[name] = {
                kept(self.reply, key, f"a field of {where}"): self.value(f"value:{kind}", each, key)
                for key, each in rest.items()
            }
        return made(self.reply, what.make, values, where)

    def _field(self, what: Any, shown: Any, where: str) -> dict[str, Any]:
        if isinstance(what, tuple):
            return {what[0]: self.value(what[1], shown, where)}
        return self._scalar(what, shown, where)

    def _scalar(self, what: str, shown: Any, where: str) -> dict[str, Any]:
        shape = self.notation.shape(f"<{what}>")
        kind = what.partition(":")[2]
        scalar = type(shown) in _TYPES.get(kind, (str, int))
        match = shape.pattern.fullmatch(str(shown)) if scalar else None
        if match is None:
            self._refuse(where, kind or "a word", shown)
        return shape.values(self.reply, match)

    def _refuse(self, where: str, wanted: str, shown: Any) -> NoReturn:
        refuse(self.reply, f"{where} should be {wanted}, not {excerpt(str(shown), 80)!r}")
