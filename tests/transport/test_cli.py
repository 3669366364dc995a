"""CliTransport over netmiko against a small SSH CLI on loopback."""

import threading
import time

import pytest
from cli_server import INDENTED, LONG, LOOKALIKE, PASSWORD, CliServer
from typed import typed

from labtests.core.clock import WallClock
from labtests.core.errors import CommandRejected, CommandTimeout, Unreachable
from labtests.transport.ssh import connect
from labtests.transport.ssh.cli import CliTransport
from labtests.transport.ssh.terminal import Prompt

COMWARE = "hp_comware"


def logged_in(switch: CliServer) -> CliTransport:
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("SWITCH_PASSWORD", PASSWORD)
        transport = connect(switch.device(), COMWARE, clock=WallClock())
    assert isinstance(transport, CliTransport)
    return transport


@pytest.fixture(scope="module")
def cli(switch: CliServer):
    """A session that a test leaves as it found it."""
    transport = logged_in(switch)
    yield transport
    transport.close()


@pytest.fixture
def own_cli(switch: CliServer):
    """A session of the test's own."""
    transport = logged_in(switch)
    yield transport
    transport.close()


# -- run -----------------------------------------------------------------------------------------


def test_a_text_that_is_not_made_of_words_is_not_sent(cli) -> None:
    for send in (cli.run, lambda text: cli.configure((text,))):
        with pytest.raises(TypeError, match="made of words"):
            send("display indented")
    assert cli.run(typed("display empty")).text == ""


def test_an_output_comes_back_byte_for_byte(cli) -> None:
    reply = cli.run(typed("display indented"))
    assert reply.text == INDENTED
    assert (reply.device, reply.command, reply.status) == ("switch", "display indented", None)


def test_an_empty_output_is_empty(cli) -> None:
    assert cli.run(typed("display empty")).text == ""


def test_a_long_output_is_whole(cli) -> None:
    assert cli.run(typed("display long")).text == LONG


def test_prompts_inside_an_output_do_not_end_it(cli) -> None:
    assert cli.run(typed("display lookalike")).text == LOOKALIKE
    assert cli.run(typed("display name")).text == "H3C\n"


def test_an_output_that_comes_in_bits_is_waited_for(cli) -> None:
    assert cli.run(typed("display slow")).text == "one line\n<H3C> is my prompt\nend\n"


def test_a_pager_that_is_on_all_the_same_is_turned_and_leaves_no_trace(own_cli) -> None:
    own_cli.run(typed("screen-length enable"))
    assert own_cli.run(typed("display long")).text == LONG
    assert own_cli.run(typed("display indented")).text == INDENTED


def test_a_log_line_behind_the_prompt_does_not_hold_the_answer(cli) -> None:
    assert cli.run(typed("display noisy"), timeout_s=5).text == "one line\n"
    assert cli.run(typed(""), timeout_s=5).text == ""
    assert cli.run(typed("display name")).text == "H3C\n"


def test_colours_and_titles_are_no_output(cli) -> None:
    assert cli.run(typed("display coloured")).text == "green\n"


@pytest.mark.parametrize("command", ["display name\nreboot", "display\tname", "hang\x03"])
def test_keys_inside_a_command_are_refused(cli, command: str) -> None:
    with pytest.raises(CommandRejected, match="control characters"):
        cli.run(typed(command))
    with pytest.raises(CommandRejected, match="control characters"):
        cli.configure(typed(("qos trust dscp", command)))
    assert cli.run(typed("display name")).text == "H3C\n"


def test_a_request_for_help_inside_a_command_is_refused(cli) -> None:
    with pytest.raises(CommandRejected, match="question mark"):
        cli.run(typed("display name ?"))
    assert cli.run(typed("display name")).text == "H3C\n"


def test_a_refusal_is_an_answer(cli) -> None:
    assert cli.run(typed("display nonsense")).text == (
        "  ^\n % Unrecognized command found at '^' position.\n"
    )


def test_a_question_is_declined_and_the_session_goes_on(cli) -> None:
    with pytest.raises(CommandRejected, match=r"Continue.*told no"):
        cli.run(typed("reboot"))
    assert cli.run(typed("display name")).text == "H3C\n"


def test_a_command_without_end_is_interrupted_and_the_session_goes_on(cli) -> None:
    with pytest.raises(CommandTimeout, match=r"no prompt within 0.5 s \(it was interrupted\)"):
        cli.run(typed("hang"), timeout_s=0.5)
    assert cli.run(typed("display indented")).text == INDENTED


def test_nothing_is_believed_after_a_command_that_cannot_be_interrupted(
    own_cli, monkeypatch
) -> None:
    monkeypatch.setattr("labtests.transport.ssh.cli.INTERRUPTED_WITHIN_S", 0.5)
    with pytest.raises(CommandTimeout, match="the session was closed"):
        own_cli.run(typed("deaf"), timeout_s=0.2)
    with pytest.raises(Unreachable):
        own_cli.run(typed("display name"))


def test_commands_are_quick(cli) -> None:
    def run_s() -> float:
        begun_s = time.monotonic()
        cli.run(typed("display name"))
        return time.monotonic() - begun_s

    # the best of netmiko's send_command; a wait of ours would be in each one
    assert any(run_s() < 0.025 for _ in range(200))


def test_threads_take_turns(cli) -> None:
    texts: list[str] = []

    def ask() -> None:
        texts.extend(cli.run(typed("display indented")).text for _ in range(5))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert texts == [INDENTED] * 20


# -- configure -----------------------------------------------------------------------------------


def test_a_block_is_sent_inside_configuration_mode_and_back_out(cli) -> None:
    reply = cli.configure(typed(("interface Twenty-FiveGigE1/0/13", "qos trust dscp")))
    assert reply.text == (
        "system-view\n"
        "System View: return to User View with Ctrl+Z.\n"
        "[H3C]interface Twenty-FiveGigE1/0/13\n"
        "[H3C-Twenty-FiveGigE1/0/13]qos trust dscp\n"
        "[H3C-Twenty-FiveGigE1/0/13]return\n"
        "<H3C>"
    )
    assert cli.run(typed("display name")).text == "H3C\n"


def test_nothing_is_sent_after_a_refused_line(cli) -> None:
    reply = cli.configure(typed(("interface Nowhere1/0/1", "qos trust dscp")))
    assert "Unrecognized command" in reply.text
    assert "qos trust" not in reply.text
    assert reply.text.endswith("[H3C]return\n<H3C>")


def test_no_commands_change_no_view(cli) -> None:
    assert cli.configure(typed(())).text == ""


def test_the_view_is_left_after_a_line_that_hangs(cli, monkeypatch) -> None:
    monkeypatch.setattr("labtests.transport.ssh.cli.DEFAULT_TIMEOUT_S", 0.5)
    with pytest.raises(CommandTimeout, match="it was interrupted"):
        cli.configure(typed(("hang",)))
    assert cli.run(typed("display name")).text == "H3C\n"


def test_the_view_is_left_after_a_line_that_asks(cli) -> None:
    with pytest.raises(CommandRejected, match="told no"):
        cli.configure(typed(("reboot",)))
    assert cli.run(typed("display name")).text == "H3C\n"


def test_a_renamed_device_is_still_understood(cli) -> None:
    cli.configure(typed(("sysname Leaf",)))
    assert cli.run(typed("display name")).text == "Leaf\n"
    cli.configure(typed(("sysname H3C",)))
    assert cli.run(typed("display indented")).text == INDENTED


def test_a_device_that_somebody_else_renames_is_told_and_goes_on_being_understood(own_cli) -> None:
    with pytest.raises(
        CommandTimeout, match=r"another name by now: its prompt is '<Spine-2\.lab>'"
    ):
        own_cli.run(typed("display other"), timeout_s=0.5)
    assert own_cli.run(typed("display name")).text == "Spine-2.lab\n"
    own_cli.configure(typed(("interface Twenty-FiveGigE1/0/13", "qos trust dscp")))
    assert own_cli.run(typed("display indented"), timeout_s=2).text == INDENTED


@pytest.mark.parametrize(
    ("before", "now", "same"),
    [
        ("N9K#", "other.lab.example#", True),
        ("SN2700 [standalone: master] #", "leaf-1 [standalone: master] #", True),
        ("<H3C>", "<Leaf>", True),
        ("N9K#", "N9K(config)#", False),
        ("N9K#", "admin@jump:~#", False),
        ("SN2700 [standalone: master] #", "SN2700 [standalone: master] >", False),
        ("<H3C>", "[H3C]", False),
        ("N9K#", "N9K#", False),
    ],
)
def test_another_name_in_a_prompt_is_told_from_another_view(
    before: str, now: str, same: bool
) -> None:
    assert Prompt(before).differs_by_name(Prompt(now)) is same


def test_an_account_that_may_not_configure_is_told_so(own_cli) -> None:
    own_cli.configure(typed(("sysname Readonly",)))
    with pytest.raises(CommandRejected, match=r"no configuration mode.*\n.*network-admin"):
        own_cli.configure(typed(("qos trust dscp",)))


# -- the session ---------------------------------------------------------------------------------


def test_a_cli_has_no_processes(cli) -> None:
    with pytest.raises(CommandRejected, match="Linux host"):
        cli.start(typed("ping 10.0.0.1"), limit_s=5)


def test_a_switch_that_goes_away_is_unreachable(own_cli, switch: CliServer) -> None:
    switch.cut()
    with pytest.raises(Unreachable, match="switch: 'display name': the SSH session"):
        own_cli.run(typed("display name"))
    with pytest.raises(Unreachable):
        own_cli.configure(typed(("qos trust dscp",)))
    own_cli.close()


def test_a_switch_that_goes_away_in_the_middle_is_unreachable(own_cli, switch: CliServer) -> None:
    threading.Timer(0.2, switch.cut).start()
    with pytest.raises(Unreachable):
        own_cli.run(typed("hang"), timeout_s=20)
