"""Where text becomes a command or a page: every place is known, so that a new one is looked at."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import labtests

CODE = Path(labtests.__file__).parent
SENDING = {"run", "_run", "start", "configure", "_change", "show", "ask", "shown", "ask_ahead"}
QUOTING = {"quote", "_interface", "join", "_folder", "word"}
"""What gives a word that a shell takes as one; `_folder` is made of `_interface`."""
OTHER_ROOMS = {"simlab", "report", "verdicts", "linuxlab"}


@cache
def nodes(file: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))


def functions(file: Path) -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in nodes(file):
        if isinstance(node, ast.FunctionDef):
            yield node.name, node


def is_quoted(value: ast.expr) -> bool:
    if isinstance(value, ast.Constant):
        return True
    called = value.func if isinstance(value, ast.Call) else None
    if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Constant):
        return False  # " ".join quotes nothing, as shlex's does
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    return name in QUOTING


def raw_words(node: ast.AST) -> Iterator[str]:
    """What stands in an f-string and is not quoted there."""
    if isinstance(node, ast.expr) and is_quoted(node):
        return
    if isinstance(node, ast.FormattedValue) and not is_quoted(node.value):
        yield ast.unparse(node.value)
    for child in ast.iter_child_nodes(node):
        yield from raw_words(child)


def is_telling(node: ast.AST) -> bool:
    """A text for a person: an error, a refusal, a note."""
    if isinstance(node, ast.Raise):
        return True
    if not isinstance(node, ast.Call):
        return False
    called = node.func
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    telling = ("reject", "refuse", "expect", "Error", "Rejected", "note", "incomplete", "say")
    return any(word in name for word in telling)


def without_telling(node: ast.AST) -> Iterator[ast.AST]:
    """The node and what is below it, but for what only a person reads, and what is quoted."""
    if is_telling(node) or (isinstance(node, ast.Call) and is_quoted(node)):
        return
    yield node
    for child in ast.iter_child_nodes(node):
        yield from without_telling(child)


def sent(function: ast.FunctionDef) -> Iterator[str]:
    """Raw words in what this function sends, or gives back as commands."""
    whole = "command" in function.name.lower() or (
        function.returns is not None and "Commands" in ast.unparse(function.returns)
    )
    for node in without_telling(function):
        if whole and isinstance(node, ast.JoinedStr):
            yield from raw_words(node)
        elif not whole and isinstance(node, ast.Call):
            called = node.func
            name = called.attr if isinstance(called, ast.Attribute) else ""
            if name in SENDING:
                for argument in node.args:
                    yield from raw_words(argument)


def found() -> dict[str, set[str]]:
    places: defaultdict[str, set[str]] = defaultdict(set)
    for file in sorted(CODE.rglob("*.py")):
        room = file.relative_to(CODE)
        if OTHER_ROOMS.isdisjoint(room.parts):
            for name, function in functions(file):
                if words := set(sent(function)):
                    places[f"{room}:{name}"] |= words
    return dict(places)


LOOKED_AT = {
    "a number of a setting, by its form (settings.py)": """
        drivers/comware/commands.py:pfc_commands listed
        drivers/comware/commands.py:dscp_map_commands after dscp
        drivers/comware/intents.py:queue_map_commands after priority
        drivers/comware/intents.py:frame_limit_commands wanted
        drivers/comware/intents.py:headroom_commands cells p priority
        drivers/connectx/classes.py:ets_commands classes shares ','.join(wanted.algorithms)
        drivers/connectx/classes.py:cable_length_commands wanted
        drivers/connectx/qos.py:pfc_commands flags
        drivers/connectx/qos.py:dscp_map_commands dscp priority
        drivers/linux/link.py:mtu_commands wanted
    """,
    "words and numbers of a setting, each one of a few (settings.py)": """
        drivers/comware/commands.py:trust_commands override wanted.source
        drivers/comware/commands.py:scheduling_commands _group(q,wanted.unit) q.queue wanted.unit
        drivers/connectx/dcqcn.py:_enable_commands 1ifpriorityinwantedelse0 folder priority
        drivers/connectx/dcqcn.py:_parameter_commands folder name value
        drivers/connectx/qos.py:trust_commands _WORDS[wanted.source]
    """,
    "a table's name: no line end, no quote (settings.py); a CLI refuses `?` and controls": """
        drivers/comware/commands.py:ecn_commands wanted.profile
        drivers/comware/commands.py:removal earlier.profile
        drivers/comware/settings.py:_table name
        drivers/comware/settings.py:_remove_unused table
    """,
    "a port in the switch's own form (comware/names.py)": """
        drivers/comware/commands.py:in_interface port
        drivers/comware/links.py:_interface self.cli.port(port)
        drivers/comware/links.py:port_counters self.cli.port(port)
        drivers/comware/session.py:interface port
        drivers/comware/settings.py:pfc full
        drivers/comware/settings.py:trust full
        drivers/comware/settings.py:ecn full
        drivers/comware/settings.py:scheduling discipline full
        drivers/comware/telemetry.py:queue_counters full
        drivers/comware/telemetry.py:_pfc_of full
        drivers/comware/telemetry.py:drop_counters full
    """,
    "made a line before, or by the caller, with a name that is quoted there": """
        drivers/connectx/dcqcn.py:_read files interface
        drivers/connectx/foresight.py:setting_commands files name
        drivers/connectx/links.py:link_commands name
        drivers/linux/foresight.py:counter_commands name
        drivers/linux/links.py:link_commands name
        drivers/linux/qdisc.py:qdisc_command interface
        drivers/linux/roce.py:gids_command _CLASS _UNUSED device files link.rdma_port port
        drivers/linux/statistics.py:statistics_command carrier folder interface name
        drivers/linux/telemetry.py:rdma_counters folder
    """,
    "words and numbers of this program": """
        devices.py:commands setting
        drivers/linux/host.py:tcp_ecn TCP_ECN
        drivers/linux_switch/dscp.py:filter_command parent
        workloads/iperf3.py:server_command _LINE_BUFFERED
        workloads/iperf3.py:client_command _LINE_BUFFERED self.interval_s each
        workloads/leftovers.py:leftovers 'F'ifrunelse'' pattern ','.join((str(pid)forpidinpids))
        workloads/leftovers.py:sweep GRACE_S pids
        workloads/marked.py:ping_command GAP_S count tos
        workloads/perftest.py:server_command _LINE_BUFFERED
        workloads/perftest.py:client_command _LINE_BUFFERED
    """,
    "shown to a person, and sent nowhere": """
        journal/unfinished.py:restore_command self.run
        profile/rendering.py:command_lines '#putback'ifchange.undoelse'' device line
        ssh/hop.py:command port self.port
    """,
}
"""Why each raw word can be nothing but one word, or part of one."""


def known() -> dict[str, set[str]]:
    places: defaultdict[str, set[str]] = defaultdict(set)
    for text in LOOKED_AT.values():
        for line in text.strip().splitlines():
            place, *words = line.split()
            places[place] |= set(words)
    return dict(places)


def test_every_raw_word_of_a_command_is_known() -> None:
    without_blanks = {
        place: {"".join(word.split()) for word in words} for place, words in found().items()
    }
    assert without_blanks == known()


def test_nothing_is_given_to_a_shell_of_this_machine() -> None:
    beside = []
    for file in sorted(CODE.rglob("*.py")):
        for node in nodes(file):
            if not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func)
            shell = any(k.arg == "shell" and ast.unparse(k.value) != "False" for k in node.keywords)
            if shell or called in ("os.system", "os.popen", "eval", "exec", "pickle.loads"):
                beside.append(f"{file.relative_to(CODE)}:{node.lineno} {called}")
            if called in ("yaml.load", "yaml.unsafe_load"):
                beside.append(f"{file.relative_to(CODE)}:{node.lineno} {called}")
    assert beside == []


def test_pages_escape_what_they_show() -> None:
    """Every environment of templates escapes; nothing is marked as safe but what is listed."""
    made, safe = [], []
    for file in sorted(CODE.rglob("*.py")):
        for node in nodes(file):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("Environment"):
                made.append(any(k.arg == "autoescape" for k in node.keywords))
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("Markup"):
                safe.append(str(file.relative_to(CODE)))
    assert made
    assert all(made)
    assert set(safe) <= SAFE_MARKUP


SAFE_MARKUP = {"report/pages.py", "report/plots.py", "report/text.py"}
"""Markup made of templates, of text that was escaped, and of numbers (tests/report)."""


@pytest.mark.parametrize(
    ("code", "raw"),
    [
        ("def a(self): self._run(f'cat {x}')", {"x"}),
        ("def a(self): self._run(f'cat {quote(x)}')", set()),
        ("def mtu_commands(self): return (f'mtu {wanted}',)", {"wanted"}),
        ("def a(self) -> Commands: return [f'mtu {w}' for w in ws]", {"w"}),
        ("def a(self): self._reject(f'no {x}')", set()),
    ],
)
def test_the_look_itself_finds_what_is_raw(code: str, raw: set[str]) -> None:
    (function,) = ast.parse(code).body
    assert isinstance(function, ast.FunctionDef)
    assert set(sent(function)) == raw
