"""Where text becomes a command or a page: by one module of words, and by templates that escape."""

import ast
import importlib
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import labtests
from labtests.transport.commands import Command

CODE = Path(labtests.__file__).parent
WORDS = CODE / "transport" / "commands.py"
QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")


@cache
def nodes(file: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))


def calls(file: Path) -> Iterator[ast.Call]:
    return (node for node in nodes(file) if isinstance(node, ast.Call))


def files() -> list[Path]:
    """All but what makes commands, and the emulated devices, which are sent them."""
    return [f for f in sorted(CODE.rglob("*.py")) if f != WORDS and "simlab" not in f.parts]


def fixed_text(file: Path, text: ast.expr) -> str | None:
    """A literal, or what a name in capitals of this module stands for; None for anything else."""
    if isinstance(text, ast.Constant) and isinstance(text.value, str):
        return text.value
    if isinstance(text, ast.Name) and text.id.isupper():
        name = ".".join(file.relative_to(CODE.parent).with_suffix("").parts)
        return str(getattr(importlib.import_module(name), text.id))
    return None


def names_inside_quotes(text: str, names: list[str]) -> list[str]:
    """Where a word that is quoted would end the quotes around it."""
    quoted = " ".join(QUOTED.findall(text))
    return [name for name in names if re.search(rf"\b{name}\b", quoted)]


def wrong_script(file: Path, call: ast.Call) -> str:
    """What is wrong with a call of `script`; "" for nothing."""
    first = call.args[0]
    fixed = isinstance(first, ast.JoinedStr) and call in module_values(file)
    text = "" if fixed else fixed_text(file, first)
    if text is None or len(call.args) != 1 or not all(word.arg for word in call.keywords):
        return f"{file.relative_to(CODE)}:{call.lineno}: the text is made at run time"
    if inside := names_inside_quotes(text, [str(word.arg) for word in call.keywords]):
        return f"{file.relative_to(CODE)}:{call.lineno}: {inside} stands inside quotes"
    return ""


def module_values(file: Path) -> list[ast.expr]:
    """What a module is given when it is loaded: an f-string there has only fixed parts."""
    module = nodes(file)[0]
    assert isinstance(module, ast.Module)
    return [node.value for node in module.body if isinstance(node, ast.Assign)]


def test_texts_for_a_shell_are_fixed_and_their_words_are_words() -> None:
    scripts = [
        (file, call)
        for file in files()
        for call in calls(file)
        if ast.unparse(call.func) in ("script", "words.script")
    ]
    assert scripts
    assert [wrong for each in scripts if (wrong := wrong_script(*each))] == []


def test_nothing_but_the_module_of_words_makes_a_command() -> None:
    """No constructor, no cast, no annotation that mypy would have to believe, no way around."""
    beside = []
    for file in files():
        for node in nodes(file):
            if isinstance(node, ast.Call):
                called, given = ast.unparse(node.func), [ast.unparse(arg) for arg in node.args]
                cast = called in ("cast", "typing.cast") and re.search(
                    r"\b(?:Command|Commands|Shell|CliLine)\b", given[0]
                )
                if cast or called in ("str.__new__", "Command", "Shell", "CliLine"):
                    beside.append(f"{file.relative_to(CODE)}:{node.lineno} {called}")
            if isinstance(node, ast.Attribute) and node.attr == "_by_sudo":
                beside.append(f"{file.relative_to(CODE)}:{node.lineno} {node.attr}")
    assert beside == []


SNIPPET = """
from labtests.transport.protocol import Transport
from labtests.transport.commands import program, script
def sends(transport: Transport, port: str) -> None:
    transport.run(program("ip", "link", "show", "dev", port))
    transport.run(script("ls /sys/class/net/IF/*", IF=port))
    transport.run({raw})
    transport.configure(({raw},))
    transport.start({raw}, limit_s=1)
"""
RAW = (
    'f"ip link show dev {port}"',
    '"ip link show dev " + port',
    '"ip link show dev %s" % port',
    '"ip link show dev {}".format(port)',
    'f"{program(port)}"',
    '" ".join([program(port)])',
    'program("ip") + port',
)


def test_a_text_that_is_not_made_of_words_does_not_pass_mypy(tmp_path: Path) -> None:
    for number, raw in enumerate(RAW):
        (tmp_path / f"snippet_{number}.py").write_text(SNIPPET.replace("{raw}", raw))
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--cache-dir=cache", "."],
        cwd=tmp_path,
        env={"MYPYPATH": str(CODE.parent), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    found = re.findall(r"^snippet_(\d)\.py:(\d+): error: .*\[(\S+)\]$", checked.stdout, re.M)
    wanted = [(str(number), str(line)) for number in range(len(RAW)) for line in (7, 8, 9)]
    assert sorted((number, line) for number, line, _ in found) == wanted, checked.stdout
    assert {kind for *_, kind in found} == {"arg-type"}


@pytest.mark.parametrize("raw", ["ip link", 7, None, b"ip"])
def test_nor_does_it_pass_at_run_time(raw: object) -> None:
    from labtests.transport.commands import as_line, as_shell

    with pytest.raises(TypeError, match="made of words"):
        as_shell(raw)
    with pytest.raises(TypeError, match="made of words"):
        as_line(raw)
    with pytest.raises(TypeError, match="made of words"):
        Command(raw)


@pytest.mark.parametrize(
    ("code", "wrong"),
    [
        ("script('cat FILE', FILE=x)", False),
        ("script(f'cat {x}')", True),
        ("script('cat ' + x)", True),
        ("script('cat %s' % x)", True),
        ("script(text, FILE=x)", True),
        ("script('cat \"FILE\"', FILE=x)", True),
        ("script('cat FILE', **words)", True),
    ],
)
def test_the_look_itself_finds_what_is_raw(tmp_path: Path, code: str, wrong: bool) -> None:
    file = CODE / "drivers" / "linux" / "qdisc.py"
    call = ast.parse(code, mode="eval").body
    assert isinstance(call, ast.Call)
    assert bool(wrong_script(file, call)) is wrong


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


SAFE_MARKUP = {
    *("history/site.py", "report/pages.py", "report/plots.py", "report/text.py", "study/page.py"),
    "study/proposal.py",
}
"""Markup made of templates, of text that was escaped, and of numbers (tests/report)."""
