"""Checks a tree against a form (schema.py) and says in words, at its place, what does not fit.

Files of other rooms are checked by the same rules: `checked` takes the form.
"""

import types
import typing
from collections.abc import Callable
from copy import deepcopy
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from labtests.inventory.mistakes import Mistakes, Path, nearest, quoted
from labtests.inventory.names import NAME_OF_SECRET, names_a_secret
from labtests.inventory.schema import DeviceForm, ManagementForm, TestbedFile

ONLY_A_NAME = "must be the name of an environment variable, never the password"
NO_SECRETS = (
    "no secrets in a testbed file: remove it (and change it, if it was real), and name an "
    "environment variable with password_env, or use a key or ssh-agent"
)


Form = TypeVar("Form", bound=BaseModel)


def check_form(tree: object, mistakes: Mistakes) -> TestbedFile | None:
    """The testbed file in pydantic's hands; None, every mistake noted, when it does not fit."""
    return checked(tree, TestbedFile, "a testbed file", mistakes)


def checked(tree: object, form: type[Form], what: str, mistakes: Mistakes) -> Form | None:
    """`what`, in pydantic's hands; None, with every mistake noted, when it does not fit."""
    if not isinstance(tree, dict):
        mistakes.add((), f"{what} is a mapping (key: value), not {_kind(tree)}")
        return None
    try:
        return form.model_validate(tree)
    except ValidationError as error:
        found = error.errors(include_url=False)
    whole = deepcopy(tree)
    if _made_whole(found, whole):
        return checked(whole, form, what, mistakes)
    for detail in found:
        if mistakes.full:
            break
        _note(detail, form, mistakes)
    return None


def _made_whole(found: list[ErrorDetails], tree: object) -> bool:
    """Floats that stand for whole numbers (programs write 65536.0) are integers now, where only an
    integer will do; False: there was none."""
    made = False
    for detail in found:
        number = detail["input"]
        if detail["type"] == "int_type" and isinstance(number, float) and number.is_integer():
            made |= _put(tree, _without_lists(detail["loc"]), int(number))
    return made


def _without_lists(path: Path) -> Path:
    """Without what validation calls a list that may be something else instead."""
    return tuple(step for step in path if not str(step).startswith("list["))


def _put(tree: Any, path: Path, value: int) -> bool:
    """The value at a place of the tree; False where validation has added to the path."""
    try:
        for step in path[:-1]:
            tree = tree[step]
        if not isinstance(tree[path[-1]], float):
            return False
        tree[path[-1]] = value
    except (LookupError, TypeError):
        return False
    return True


def _note(detail: ErrorDetails, form: type[BaseModel], mistakes: Mistakes) -> None:
    path: Path = detail["loc"]
    if path and path[-1] == "[key]":
        mistakes.add(path[:-1], sentence_of(detail), key=True)
        return
    if detail["type"] == "missing":
        mistakes.add_at(mistakes.place(path).key, path, "is missing")
        return
    if detail["type"] == "extra_forbidden":
        mistakes.add(path, _unknown_key(path, form), key=True)
        return
    path = _in_file(path, mistakes)
    if not mistakes.known_wrong(path):
        named = path[-1:] == (NAME_OF_SECRET,) and detail["type"] == "string_type"
        # somebody wrote the password itself: a number is not a name, and is not repeated
        mistakes.add(path, ONLY_A_NAME if named else sentence_of(detail))


def _in_file(path: Path, mistakes: Mistakes) -> Path:
    """Without list positions that validation added (a role's single text became a list). A tree
    that is of no file has no places to look at."""
    while mistakes.places and path and path not in mistakes.places:
        path = path[:-1]
    return path


def sentence_of(detail: ErrorDetails) -> str:
    """What is wrong with a value, in words."""
    kind, context = detail["type"], detail.get("ctx", {})
    rule = _RULES.get(kind)
    if rule is not None:
        return rule(detail["input"], context)
    return detail["msg"]


def exactly(bound: float) -> str:
    """A bound as it is: none of its digits is rounded away."""
    return str(int(bound)) if bound == int(bound) and abs(bound) < 1e16 else repr(bound)


def _wanted(what: str) -> Callable[[Any, dict[str, Any]], str]:
    return lambda value, _: f"must be {what}, not {_kind(value)}"


def _text_wanted(value: Any, _: dict[str, Any]) -> str:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return f"must be text, not {_kind(value)}: write it in quotes"
    return f"must be text, not {_kind(value)}"


def _literal(value: Any, context: dict[str, Any]) -> str:
    words = str(context["expected"]).replace("'", "")
    hint = ""
    if isinstance(value, str):
        near = nearest(value, words.split(" or "))
        hint = f"; {near}" if near.startswith("did") else ""
    return f"must be {words}{hint}"


def _length(context: dict[str, Any], bound: str, word: str) -> str:
    count = context[bound]
    return f"must have {word} {count} {'entry' if count == 1 else 'entries'}"


def _kind(value: object) -> str:
    """What a value is, for a sentence. Long or secret values are not repeated."""
    match value:
        case None:
            return "empty"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return f"the number {value}"
        case str():
            return f"the text {quoted(value)}"
        case list():
            return "a list"
    return "a mapping"


_MAPPING = _wanted("a mapping (key: value)")
_RULES: dict[str, Callable[[Any, dict[str, Any]], str]] = {
    "string_type": _text_wanted,
    "int_type": _wanted("a whole number"),
    "float_type": _wanted("a number"),
    "int_parsing": _wanted("a whole number"),
    "int_from_float": _wanted("a whole number"),
    "float_parsing": _wanted("a number"),
    "bool_parsing": _wanted("true or false"),
    "bool_type": _wanted("true or false"),
    "list_type": _wanted("a list"),
    "dict_type": _MAPPING,
    "model_type": _MAPPING,
    "model_attributes_type": _MAPPING,
    "literal_error": _literal,
    "value_error": lambda _, context: str(context["error"]),
    "greater_than": lambda _, context: f"must be greater than {exactly(context['gt'])}",
    "greater_than_equal": lambda _, context: f"must be at least {exactly(context['ge'])}",
    "less_than_equal": lambda _, context: f"must be at most {exactly(context['le'])}",
    "too_short": lambda _, context: _length(context, "min_length", "at least"),
    "too_long": lambda _, context: _length(context, "max_length", "at most"),
    "string_too_long": lambda _, context: f"is longer than {context['max_length']} characters",
}


# -- unknown keys ------------------------------------------------------------------------------


def _unknown_key(path: Path, form: type[BaseModel]) -> str:
    key = str(path[-1])
    if names_a_secret(key):
        return NO_SECRETS
    model = _model_at(path[:-1], form)
    hint = nearest(key, model.model_fields)
    if issubclass(model, DeviceForm) and key in ManagementForm.model_fields:
        hint = "it belongs into management"
    elif form is TestbedFile and key == "management":
        hint = f"write what it holds directly into {path[-2] if len(path) > 1 else 'devices'}"
    return f"unknown key {quoted(key)}: {hint}"


def _model_at(path: Path, form: type[BaseModel]) -> type[BaseModel]:
    """The model that a place of the file must fit."""
    at: Any = form
    for part in path:
        at = _fields(at)[str(part)].annotation if _is_model(at) else typing.get_args(at)[-1]
        at = _without_none(at)
    assert _is_model(at)
    return typing.cast(type[BaseModel], at)


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type(BaseModel))


def _fields(model: Any) -> dict[str, FieldInfo]:
    return typing.cast(type[BaseModel], model).model_fields


def _without_none(annotation: Any) -> Any:
    if isinstance(annotation, types.UnionType):
        return next(part for part in typing.get_args(annotation) if part is not type(None))
    return annotation
