"""The emulated CLI at a terminal: prompts, pages, questions, control keys."""

import pytest

from labtests.simlab.comware.words import PAGER

MORE, ERASE_MORE = PAGER.more, PAGER.erase


@pytest.fixture
def opened(switch, console):
    switch.shell(console)
    return console


def test_a_session_begins_with_the_banner_and_ends_with_quit(opened):
    assert opened.take().endswith("*\n\n<S6550>")
    opened.on_line("quit")
    assert opened.status == 0


def test_long_output_stops_after_24_lines_and_goes_on_with_space(opened):
    opened.take()
    opened.on_line("display qos map-table dscp-dot1p")
    first = opened.take()
    assert first.count("\n") == 24
    assert first.endswith(MORE)
    opened.on_key(" ")
    second = opened.take()
    assert second.startswith(ERASE_MORE)
    assert second.count("\n") == 24
    opened.on_key("\r")
    assert opened.take().count("\n") == 1
    opened.on_key(" ")
    last = opened.take()
    assert last.endswith("\n<S6550>")
    assert opened.on_key is None


@pytest.mark.parametrize("key", ["q", "\x03"])
def test_a_display_can_be_given_up_at_the_more_line(opened, key):
    opened.on_line("display qos map-table")
    opened.take()
    opened.on_key("x")
    assert opened.take() == ""
    opened.on_key(key)
    assert opened.take() == ERASE_MORE + "<S6550>"


def test_paging_is_switched_off_and_on_for_the_session(opened):
    opened.on_line("screen-length disable")
    opened.take()
    opened.on_line("display qos map-table")
    assert MORE not in opened.take()
    opened.on_line("undo screen-length disable")
    opened.on_line("display qos map-table")
    assert MORE in opened.take()


def test_without_a_terminal_nothing_waits_for_a_key(switch, console):
    console.pty = False
    switch.shell(console)
    console.on_line("display qos map-table")
    assert MORE not in console.text


def test_control_z_leads_back_to_user_view(opened):
    opened.on_line("system-view")
    opened.on_line("interface WGE1/0/14")
    opened.take()
    opened.on_suspend()
    assert opened.take() == "\n<S6550>"


def test_control_c_gives_up_a_question(opened):
    opened.on_line("save")
    opened.take()
    opened.on_interrupt()
    assert opened.take() == "\n<S6550>"
    opened.on_line("y")
    assert "Unrecognized" in opened.take()


def test_an_empty_line_prints_the_prompt_again(opened):
    opened.take()
    opened.on_line("")
    assert opened.take() == "<S6550>"


def test_a_command_given_to_ssh_is_answered_without_prompt_or_pages(switch, console):
    switch.execute("display clock\ndisplay interface brief", console)
    assert console.text.startswith("08:00:00 UTC Wed 05/29/2024\nBrief information")
    assert console.status == 0
