"""Every recording of a host is read by the parser it is named after, or refused."""

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from importlib import import_module
from inspect import getmembers, isfunction
from pkgutil import iter_modules
from typing import Any

import pytest
from connectx_host import OF_ANY_HOST, TRANSCRIPTS, file_of

from labtests.core.errors import DeviceError
from labtests.drivers import connectx, linux
from labtests.drivers.connectx import host
from labtests.drivers.linux import host as linux_host
from labtests.transport.protocol import Reply

FILES = [*TRANSCRIPTS.glob("*.txt"), *OF_ANY_HOST.glob("*.txt")]
NAMES = sorted(file.stem for file in FILES)


def parsers() -> dict[str, Callable[..., Any]]:
    return {
        name.removeprefix("parse_"): function
        for package in (linux, connectx)
        for module in iter_modules(package.__path__)
        for name, function in getmembers(
            import_module(f"{package.__name__}.{module.name}"), isfunction
        )
        if name.startswith("parse_")
    }


def read(name: str, reply: Reply) -> Any:
    parse = parsers()[name.split("--")[0]]
    if parse is not linux_host.parse_version:
        return parse(reply)
    tools = {**linux_host._VERSION_OF, **host._VERSION_OF}
    tool = next((tool for tool in ("mlnx_qos", "iproute2") if tool in name), "perftest")
    return parse(reply, tools[tool][1])


def shown(found: Any) -> str:
    """What a parser found, one fact a line."""
    if is_dataclass(found):
        return "".join(f"{f.name}: {getattr(found, f.name)!r}\n" for f in fields(found))
    if isinstance(found, dict):
        return "".join(f"{key!r}: {value!r}\n" for key, value in found.items())
    if isinstance(found, frozenset):
        found = sorted(found)
    if isinstance(found, tuple | list):
        return "".join(f"{row!r}\n" for row in found) or "nothing\n"
    return f"{found!r}\n"


def outcome(name: str, reply: Reply) -> str:
    try:
        return shown(read(name, reply))
    except DeviceError as error:
        return f"{type(error).__name__}: {error}\n"


@pytest.mark.parametrize("name", NAMES)
def test_a_recording_is_read_as_it_stands_or_refused_with_a_reason(name, recording):
    assert outcome(name, recording(name)) == file_of(name).with_suffix(".expected").read_text()


def test_every_parser_has_a_recording_and_every_recording_a_parser():
    assert set(parsers()) == {name.split("--")[0] for name in NAMES}


def test_no_transcript_is_left_without_an_expectation():
    for folder in (TRANSCRIPTS, OF_ANY_HOST):
        names = {file.stem for file in folder.glob("*.txt")}
        assert {file.stem for file in folder.glob("*.expected")} == names
        assert {file.stem for file in folder.glob("*.err")} <= names
    assert len(set(NAMES)) == len(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_recording_says_where_it_is_from_and_whether_its_white_space_is_real(name):
    command, source = file_of(name).read_text().split("\n")[:2]
    assert command.startswith("$ ")
    assert source.startswith("# source: ")
    assert "; white space verbatim;" in source or "; white space collapsed;" in source


@pytest.mark.parametrize("name", NAMES)
def test_windows_line_ends_change_nothing(name, recording):
    reply = recording(name)
    text = reply.text.replace("\n", "\r\n")
    changed = Reply(
        device=reply.device,
        command=reply.command,
        text=text,
        errors=reply.errors,
        status=reply.status,
        time_s=reply.time_s,
    )
    assert outcome(name, changed) == outcome(name, reply)
