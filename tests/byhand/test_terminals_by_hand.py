"""Interactive sessions, key by key: bash on a host, the CLI of the switch."""

import subprocess
from collections.abc import Iterator

import pytest
from served_lab import ServedLab, Terminal

PORT = "Twenty-FiveGigE1/0/14"
PROMPT = r"# $"
CLI = r"[>\]]$"


@pytest.fixture
def bash(served: ServedLab) -> Iterator[Terminal]:
    with Terminal(served.ssh("ServerA")) as terminal:
        terminal.read(r"root@ServerA:~# $")
        yield terminal
        terminal.type("\x03", PROMPT)
        terminal.type("exit 0\r", "<end>|closed")


@pytest.fixture
def cli(served: ServedLab) -> Iterator[Terminal]:
    with Terminal(served.ssh("S6550")) as terminal:
        assert "Copyright (c) 2004-2024 New H3C" in terminal.read(r"<S6550>$")
        yield terminal
        terminal.type("\x1a", r"<S6550>$")
        terminal.type("quit\r", "<end>|closed")


def test_lines_are_edited(bash: Terminal) -> None:
    bash.type("ecoh\x7f\x7fho \x1b[D\x1b[3~hi\r", PROMPT)
    assert bash.seen.endswith("hi\r\nroot@ServerA:~# ")
    assert bash.type("echo wrong\x17right\r", PROMPT).endswith("\r\nright\r\nroot@ServerA:~# ")
    assert bash.type("wrong\x15echo right\r", PROMPT).endswith("right\r\nroot@ServerA:~# ")
    bash.type("mlnx_qos -i enp3s0f0np0 | head -1\r", r"DCBX mode: OS controlled\r\n.*# $")


def test_control_c_ends_what_runs_and_nothing_else(bash: Terminal) -> None:
    for busy in (
        "sleep 100",
        "cat",
        "while true; do :; done",
        "while true; do sleep 5; done",
        "sleep 100 | cat",
        "read a",
        "watch -n 0.2 date",
        "tail -f /dev/null || sleep 100",
    ):
        bash.type(f"{busy}\r", r"\r\n")
        assert bash.type("\x03", PROMPT).endswith("^C\r\nroot@ServerA:~# ")
    assert bash.type("ping 192.168.10.12\r", r"icmp_seq=1 .*\r\n")
    assert "1 packets transmitted, 1 received, 0% packet loss" in bash.type("\x03", PROMPT)
    assert "\r\nstill here\r\n" in bash.type("echo still here\r", PROMPT)


def test_control_d_ends_the_reader_and_then_the_shell(served: ServedLab) -> None:
    with Terminal(served.ssh("ServerA")) as terminal:
        terminal.read(PROMPT)
        terminal.type("cat > /tmp/typed\r", r"\r\n")
        terminal.type("some text\r", r"\r\n")
        terminal.type("\x04", PROMPT)
        assert "\r\nsome text\r\n" in terminal.type("cat /tmp/typed\r", PROMPT)
        assert "logout" in terminal.type("\x04", "<end>|closed")


def test_unfinished_commands_are_continued(bash: Terminal) -> None:
    bash.type("for i in 1 2\r", "> $")
    bash.type("do echo got $i\r", "> $")
    assert "got 1\r\ngot 2\r\n" in bash.type("done\r", PROMPT)
    bash.type("echo 'a\r", "> $")
    bash.type("\x03", PROMPT)
    assert "\r\nfree\r\n" in bash.type("echo free\r", PROMPT)


def test_what_runs_behind_the_prompt_is_ended_by_its_number(bash: Terminal) -> None:
    assert bash.type("sleep 77 &\r", PROMPT).endswith("sleep 77 &\r\nroot@ServerA:~# ")
    bash.type("kill $!\r", PROMPT)
    assert "sleep 77" not in bash.type("ps -eo args\r", PROMPT).partition("ps -eo args")[2]


def test_a_shell_in_the_shell_is_refused(bash: Terminal) -> None:
    for command in ("bash", "sudo -i"):
        shown = bash.type(f"{command}\r", PROMPT)
        assert "bash: the simulated box does not emulate this: a shell in the shell" in shown


def test_the_cli_configures_a_port_with_abbreviations(cli: Terminal) -> None:
    assert "System View: return to User View with Ctrl+Z.\r\n[S6550]" in cli.type("sys\r", CLI)
    assert cli.type("int twe1/0/14\r", CLI).endswith(f"[S6550-{PORT}]")
    cli.type("undo pri\r", CLI)
    cli.type("undo qos trust\r", CLI)
    cli.type("pri en\r", CLI)
    cli.type("pri no dot 3\r", CLI)
    assert cli.type("dis this\r", CLI).partition("\r\n")[2] == (
        f"#\r\ninterface {PORT}\r\n port link-mode bridge\r\n priority-flow-control enable\r\n"
        " priority-flow-control no-drop dot1p 3\r\n#\r\nreturn\r\n" + f"[S6550-{PORT}]"
    )
    cli.type("undo priority-flow-control\r", CLI)
    cli.type("undo priority-flow-control no-drop dot1p\r", CLI)
    assert "priority-flow-control" not in cli.type("display this\r", CLI).partition("\r\n")[2]
    assert cli.type("quit\r", CLI).endswith("\r\n[S6550]")
    assert cli.type("return\r", CLI).endswith("\r\n<S6550>")


def test_the_cli_shows_where_a_command_is_wrong(cli: Terminal) -> None:
    for line, caret, problem in (
        ("foo", 7, "Unrecognized command"),
        ("display foo", 15, "Unrecognized command"),
        ("display qos", 19, "Incomplete command"),
        ("s", 7, "Ambiguous command"),
        ("display clock now", 21, "Too many parameters"),
        ("display interface twe1/0/99", 25, "Wrong parameter"),
    ):
        shown = cli.type(f"{line}\r", rf"{CLI}").split("\r\n")
        assert shown[1].rstrip() == " " * caret + "^", line
        assert shown[2] == f"% {problem} found at '^' position.", line


def test_long_displays_are_paged_until_paging_is_off(cli: Terminal) -> None:
    first = cli.type("display interface\r", "---- More ----$")
    assert first.count("\r\n") == 25  # the command, and 24 lines
    cli.type(" ", "---- More ----$")
    cli.type("\r", "---- More ----$")
    cli.type("q", CLI)
    cli.type("screen-length disable\r", CLI)
    assert "More" not in cli.type("display interface\r", CLI)


def test_the_cli_tells_what_can_follow(cli: Terminal) -> None:
    listing = cli.type("?", r"<S6550>$")
    assert listing.startswith("\r\nUser view commands:\r\n  display\r\n")
    assert "  priority-flow-control\r\n" in cli.type("display ?", r"<S6550>display $")
    assert "\r\n  clock\r\n  counters\r\n  current-configuration\r\n" in cli.type(
        "c?", r"<S6550>display c$"
    )
    assert "UTC" in cli.type("lo\r", CLI)
    assert "% Unrecognized command found at '^' position." in cli.type("foo ?", r"<S6550>foo $")
    cli.type("\x03", CLI)


def test_saving_asks_first(cli: Terminal) -> None:
    cli.type("save\r", r"Are you sure\? \[Y/N\]:$")
    cli.type("y\r", r"press the enter key\):$")
    assert "Saved the current configuration to mainboard device successfully." in cli.type(
        "\r", CLI
    )


def test_lines_piped_into_the_switch_are_answered(served: ServedLab) -> None:
    done = subprocess.run(
        served.ssh("S6550", options=["-T"]),
        input="display clock\nfoo\nquit\n",
        capture_output=True,
        text=True,
        timeout=20,
    )
    assert done.returncode == 0
    assert " UTC " in done.stdout
    assert "% Unrecognized command found at '^' position." in done.stdout
    assert served.output("S6550", "display current-configuration | include sysname") == (
        " sysname S6550\n"
    )
