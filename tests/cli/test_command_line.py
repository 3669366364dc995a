"""The command line: what it prints, where, and with which exit code."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import click
import pytest
from click.testing import CliRunner, Result

import labtests
from labtests.__main__ import main
from labtests.inventory import Testbed

ROOT = Path(__file__).parents[2]
LAB = str(ROOT / "testbeds/h3c-s6550-cx4.yaml")
OTHER = str(ROOT / "testbeds/incast-5to1.yaml")


def run(*arguments: str, **variables: str) -> Result:
    return CliRunner().invoke(main, arguments, env=variables, prog_name="labtests")


# -- validate and schema -----------------------------------------------------------------------


def test_valid_files_get_a_line_each_with_counts() -> None:
    result = run("validate", LAB, OTHER)

    assert result.exit_code == 0
    assert result.stderr == ""
    assert result.stdout.splitlines() == [
        f"OK {LAB}: 4 devices, 6 ports, 3 links; roles: senders 2, receiver 1",
        f"OK {OTHER}: 7 devices, 13 ports, 6 links; roles: senders 5, receiver 1",
    ]


def test_a_wrong_file_exits_with_2_and_its_mistakes_on_stderr(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("name: x\nname: y\ndevics: {}\n")

    result = run("validate", str(wrong))

    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.splitlines() == [
        f"{wrong}:1:1: devices: is missing",
        f"{wrong}:2:1: name: key given twice: here and in line 1; remove one",
        f'{wrong}:3:1: devics: unknown key "devics": did you mean devices?',
    ]


def test_one_wrong_file_does_not_hide_another_or_a_valid_one(tmp_path: Path) -> None:
    (tmp_path / "empty.yaml").write_text("")

    result = run("validate", str(tmp_path / "empty.yaml"), LAB, str(tmp_path / "absent.yaml"))

    assert result.exit_code == 2
    assert result.stdout.startswith(f"OK {LAB}: ")
    assert result.stderr.splitlines() == [
        f"{tmp_path}/empty.yaml:1:1: file: the file is empty",
        f"{tmp_path}/absent.yaml:1:1: file: cannot be read: No such file or directory",
    ]


def test_a_bare_name_means_a_file_in_testbeds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)

    result = run("validate", "incast-5to1")

    assert result.exit_code == 0
    assert result.stdout.startswith("OK testbeds/incast-5to1.yaml: 7 devices")


def test_validate_without_a_file_is_a_usage_error() -> None:
    result = run("validate")

    assert result.exit_code == 2
    assert "Missing argument 'FILE...'" in result.stderr


@pytest.mark.parametrize(
    "words",
    [("validate", "--\x1b]0;evil\x07"), ("who", LAB, "\x1b[2Jevil"), ("--\x1b[2J",), ("\x1b[2J",)],
)
def test_a_name_of_anybody_s_file_commands_no_terminal(words: tuple[str, ...]) -> None:
    """As `labtests validate *` has it in a folder of others."""
    result = run(*words)
    assert result.exit_code == 2
    assert "\x1b" not in result.output
    assert "\x07" not in result.output


def test_the_schema_is_printed_as_json() -> None:
    result = run("schema")

    assert result.exit_code == 0
    assert json.loads(result.stdout)["title"] == "labtests testbed"


def test_the_version_is_printed() -> None:
    assert run("--version").stdout == f"labtests, version {labtests.__version__}\n"


# -- inventory show ----------------------------------------------------------------------------


def test_show_prints_devices_ports_links_and_roles() -> None:
    result = run("inventory", "show", OTHER)

    assert result.exit_code == 0
    for word in (
        "gpu03",
        "lab@10.7.0.13:22, via ops@bastion.lab.example, sudo -n",
        "netops@10.7.0.2:22, accepts new host keys",
        "172.16.7.3/24",
        "discovered",
        "not cabled",
        "25 Gb/s",
        "15 m",
        "store01:ens2f0np0",
    ):
        assert word in result.stdout


def test_show_of_a_wrong_file_exits_with_2(tmp_path: Path) -> None:
    (tmp_path / "list.yaml").write_text("[]")

    result = run("inventory", "show", str(tmp_path / "list.yaml"))

    assert (result.exit_code, result.stdout) == (2, "")
    assert ":1:1: file: a testbed file is a mapping" in result.stderr


# -- simlab serve ------------------------------------------------------------------------------


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict[str, object]]]:
    """Stands in for the serving module and notes how it is called."""
    calls: list[tuple[str, dict[str, object]]] = []

    class Serving(ModuleType):
        def serve(self, testbed: Testbed, source: Path, **options: object) -> None:
            assert source.is_file()
            given = {name: value for name, value in options.items() if value is not None}
            calls.append((testbed.name, given))

    monkeypatch.setitem(sys.modules, "labtests.simlab.serving", Serving("serving"))
    return calls


def test_serve_hands_over_the_testbed_and_its_options(
    served: list[tuple[str, dict[str, object]]], tmp_path: Path
) -> None:
    result = run(
        "simlab", "serve", LAB, "--seed", "7", "--driven", "--directory", str(tmp_path / "d")
    )

    assert result.exit_code == 0, result.output
    assert served == [("h3c-s6550-cx4", {"seed": 7, "driven": True, "directory": tmp_path / "d"})]


def test_every_option_is_an_environment_variable_too(
    served: list[tuple[str, dict[str, object]]],
) -> None:
    run("simlab", "serve", LAB, LABTESTS_SIMLAB_SERVE_SEED="11")

    assert served == [("h3c-s6550-cx4", {"seed": 11, "driven": False})]


@pytest.mark.parametrize("package", ["asyncssh", "numba"])
def test_a_missing_package_of_the_simulated_lab_gets_a_sentence(
    monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    def absent(_: str) -> ModuleType:
        raise ModuleNotFoundError(f"No module named {package!r}", name=package)

    monkeypatch.setattr("labtests.core.interpreter.importlib.import_module", absent)

    result = run("simlab", "serve", LAB)

    assert result.exit_code == 2
    assert result.stderr == (
        f"the simulated lab needs the package {package}, which is not installed\n"
        "  remedy: pip install 'labtests[simlab]'; in a clone: make setup\n"
    )


def test_another_missing_module_is_a_bug_and_shown_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(_: str) -> ModuleType:
        raise ModuleNotFoundError("No module named 'labtests.nonsense'", name="labtests.nonsense")

    monkeypatch.setattr("labtests.core.interpreter.importlib.import_module", absent)

    assert isinstance(run("simlab", "serve", LAB).exception, ModuleNotFoundError)


# -- what is not there ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "folder"),
    [
        (("validate", "nosuch"), "testbeds"),
        (("inventory", "show", "nosuch"), "testbeds"),
        (("snapshot", "--testbed", "nosuch"), "testbeds"),
        (("check", "--testbed", "nosuch", "--dry-run"), "testbeds"),
        (("simlab", "serve", "nosuch"), "testbeds"),
        (("who", "nosuch"), "testbeds"),
        (("linuxlab", "status", "nosuch"), "testbeds"),
        (("plan", "lossless-25g", "--testbed", "nosuch"), "testbeds"),
        (("plan", "nosuch", "--testbed", LAB, "--dry-run"), "profiles"),
        (("profile", "check", "nosuch"), "profiles"),
    ],
)
def test_a_name_that_is_not_there_lists_those_that_are(words, folder, monkeypatch) -> None:
    monkeypatch.chdir(ROOT)
    result = run(*words)
    names = ", ".join(sorted(path.stem for path in (ROOT / folder).glob("*.yaml")))
    assert f"nosuch: no such file, and no such name: {folder}/ has {names}" in result.stderr
    assert result.exit_code == 2


def test_a_folder_without_a_snapshot_gets_a_remedy(tmp_path: Path) -> None:
    result = run("diff", str(tmp_path))
    assert result.exit_code == 2
    assert "state-before.json: No such file or directory\n  remedy: name a file of" in result.stderr


def test_forget_without_a_run_is_one_mistake_and_nothing_else(tmp_path: Path) -> None:
    result = run("restore", "--forget", LABTESTS_STATE_DIR=str(tmp_path))
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "--forget needs the RUN that is given up\n"


def _groups(group: click.Group) -> Iterator[click.Group]:
    yield group
    for each in group.commands.values():
        if isinstance(each, click.Group):
            yield from _groups(each)


@pytest.mark.parametrize("group", list(_groups(main)), ids=lambda group: group.name)
def test_the_list_of_commands_cuts_no_sentence(group: click.Group) -> None:
    shown = group.get_help(click.Context(group, info_name="labtests", terminal_width=80))
    assert "..." not in shown.partition("Options:")[2]


def test_a_full_disk_is_told_with_what_was_written(tmp_path, monkeypatch):
    """Of a copy that failed, not with what was read."""

    def full(source: Path, copied: Path) -> None:
        raise OSError(28, "No space left on device", str(source), None, str(copied))

    monkeypatch.setattr("labtests.core.shipped.shutil.copyfile", full)
    ended = CliRunner().invoke(main, ["init", str(tmp_path / "mine")])
    assert ended.exit_code == 2
    assert ended.output.startswith(str(tmp_path / "mine" / "suites"))


def test_every_command_stands_once_under_what_one_wants():
    """Some thirty in one list by the alphabet tell a newcomer nothing."""
    told = run("--help").output
    listed = [line.split()[0] for line in told.splitlines() if re.match(r"  [a-z]+ ", line)]
    assert sorted(listed) == sorted(main.commands)
    assert "Others:" not in told
    assert told.index("To begin:") < told.index("  init ") < told.index("Nights:")
