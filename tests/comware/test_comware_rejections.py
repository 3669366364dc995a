"""A Comware switch that says no is heard, with the exact line it refused."""

import pytest

from labtests.core.errors import CommandRejected
from labtests.drivers.comware.session import REFUSALS
from labtests.transport.protocol import Reply

COMMANDS = ("interface Twenty-FiveGigE1/0/14", "priority-flow-control enable", "qos trust dscp")

# recorded: blanks around the caret; none; a log file without a caret; no % at all (twice)
SAID_NO = [
    "     ^                 \n% Unrecognized command found at '^' position.\n",
    " ^ % Unrecognized command found at '^' position.\n",
    "% Unrecognized command found at '^' position.\n",
    "% Ambiguous command found at '^' position.\n",
    "          ^\n % Incomplete command found at '^' position.\n",
    "          ^\n % Wrong parameter found at '^' position.\n",
    "          ^\n % Too many parameters found at '^' position.\n",
]
SENTENCES = [
    "The rule does not exist.\n",
    "This subnet overlaps with another interface!\n",
    "Permission denied.\n",
    "Failed to apply the WRED table: resources are insufficient.\n",
]


def block(*answers):
    """What a terminal shows: prompt, echo, and what the switch says after each line."""
    views = ("[S6550]", "[S6550-Twenty-FiveGigE1/0/14]", "[S6550-Twenty-FiveGigE1/0/14]")
    said = [*answers, *[""] * (len(COMMANDS) - len(answers))]
    return (
        "system-view\nSystem View: return to User View with Ctrl+Z.\n"
        + "".join(f"{v}{c}\n{a}" for v, c, a in zip(views, COMMANDS, said, strict=True))
        + "[S6550-Twenty-FiveGigE1/0/14]return\n<S6550>"
    )


def configured(text):
    return Reply(device="S6550", command="system-view", text=text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n",
        block(),
        block().replace("\n", "\r\n"),
        block().replace("[S6550", "RBM_P[S6550").replace("<", "RBM_P<"),
        block().replace("]", "] "),  # a prompt with a blank
        "\n".join(COMMANDS),  # echoes without prompts
        "%Jan  1 12:00:00:123 2024 S6550 SHELL/6/SHELL_CMD: -Line=vty0; Command is x\n" + block(),
    ],
)
def test_echoes_prompts_and_notices_are_no_refusal(text):
    REFUSALS.expect_accepted(configured(text), COMMANDS)


@pytest.mark.parametrize("answer", SAID_NO + SENTENCES)
@pytest.mark.parametrize("at", range(len(COMMANDS)))
def test_the_refused_line_is_named_with_the_words_of_the_switch(answer, at):
    answers = [""] * at + [answer]
    with pytest.raises(CommandRejected) as refusal:
        REFUSALS.expect_accepted(configured(block(*answers)), COMMANDS)
    assert refusal.value.device == "S6550"
    assert refusal.value.command == COMMANDS[at]
    assert answer.replace("^ ", "").split()[-1] in refusal.value.problem
    assert refusal.value.remedy


def test_a_caret_alone_is_a_refusal():
    with pytest.raises(CommandRejected):
        REFUSALS.expect_accepted(configured(block("", "      ^\n")), COMMANDS)


def test_a_question_that_waits_for_an_answer_is_a_refusal():
    with pytest.raises(CommandRejected, match=r"\[Y/N\]"):
        REFUSALS.expect_accepted(configured(block("", "Continue? [Y/N]:\n")), COMMANDS)


@pytest.mark.parametrize("text", SAID_NO)
def test_a_refused_display_command_is_an_error_and_no_output(text):
    reply = Reply(device="S6550", command="display priority-flow-control", text=text)
    assert REFUSALS.is_refusal(reply)
    with pytest.raises(CommandRejected) as refusal:
        REFUSALS.expect_answer(reply)
    assert refusal.value.command == "display priority-flow-control"
    assert "found at '^' position" in refusal.value.problem


def test_each_kind_of_refusal_has_its_own_remedy():
    remedies = set()
    for text in SAID_NO[3:]:
        with pytest.raises(CommandRejected) as refusal:
            REFUSALS.expect_answer(Reply(device="S6550", command="x", text=text))
        remedies.add(refusal.value.remedy)
    assert len(remedies) == len(SAID_NO[3:])


def test_an_output_with_a_percentage_is_no_refusal():
    text = "Interface: GE1/0/1\n Current queue length: 0 packets, 0% use ratio\n"
    assert not REFUSALS.is_refusal(Reply(device="S6550", command="x", text=text))
