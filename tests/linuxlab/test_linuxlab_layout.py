"""What is made of a testbed, as commands, and what is said when it cannot be; needs no root."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from linux_labs import file_of, loaded

from labtests.core.errors import LabError
from labtests.inventory import load
from labtests.linuxlab import command, programs
from labtests.linuxlab.layout import difference, host_shaper, switch_queues
from labtests.linuxlab.ledger import ledger_of, opened
from labtests.linuxlab.plan import LinuxLabPlan, planned

TESTBEDS = Path(__file__).parents[2] / "testbeds"


def _plan(tmp_path: Path, section: str = "") -> LinuxLabPlan:
    return planned(loaded(file_of(tmp_path, 0, section=section)))


def _tree(plan: LinuxLabPlan, *, red: bool = False) -> list[str]:
    switch = next(box for box in plan.boxes if box.switch)
    return switch_queues(switch.ports[1], plan.lab, red=red)


def _of_queues(lines: list[str], start: str, word: str) -> list[str]:
    """The value after a word in the lines of queues 0 to 7."""
    found = [line.split() for line in lines if line.startswith(start) and "1:1 htb" not in line]
    return [words[words.index(word) + 1] for words in found]


def test_eight_queues_of_the_ports_own_rate_and_the_limit_of_the_file(tmp_path: Path) -> None:
    lines = _tree(_plan(tmp_path, "queue_limit_bytes: 200000"))

    assert lines[0] == "qdisc add dev p2 root handle 1: htb default 10"
    assert "1:1 htb rate 100000000bit ceil 100000000bit" in lines[1]
    leaves = [line for line in lines if "bfifo" in line]
    assert [line.split("parent ")[1] for line in leaves] == [
        f"1:1{queue} handle 10{queue}: bfifo limit 200000" for queue in range(8)
    ]


def test_the_three_high_bits_of_the_dscp_choose_the_queue_in_both_protocols(tmp_path: Path) -> None:
    for word in ("dsfield", "priority"):
        found = [line.split() for line in _tree(_plan(tmp_path)) if f" {word} " in line]
        queues = {int(w[w.index(word) + 1], 16) >> 5: w[-1] for w in found}
        assert queues == {queue: f"1:1{queue}" for queue in range(8)}
        assert all(w[w.index(word) + 2] == "0xe0" for w in found)


def test_scheduling_is_prio_and_quantum_of_the_classes(tmp_path: Path) -> None:
    strict = _tree(_plan(tmp_path, "scheduling: strict"))
    weighted = _tree(_plan(tmp_path, "scheduling: weighted, weights: [1, 1, 1, 4, 1, 2, 1, 1]"))

    assert _of_queues(strict[2:], "class", "prio") == list("76543210")
    assert _of_queues(weighted[2:], "class", "prio") == list("00000000")
    quanta = [int(text) for text in _of_queues(weighted[2:], "class", "quantum")]
    assert [quantum / quanta[0] for quantum in quanta] == [1, 1, 1, 4, 1, 2, 1, 1]
    assert quanta[0] >= 1514  # a smaller one than a frame is not served evenly


def test_ecn_is_red_where_the_kernel_has_it_and_else_a_plain_queue(tmp_path: Path) -> None:
    plan = _plan(tmp_path, "ecn: {min_bytes: 30000, max_bytes: 90000}")

    with_red = [line for line in _tree(plan, red=True) if "handle 10" in line]
    without = [line for line in _tree(plan) if "handle 10" in line]

    assert len(with_red) == len(without) == 8
    assert all(" red limit " in line and line.endswith(" ecn") for line in with_red)
    assert all(" min 30000 max 90000 " in line for line in with_red)
    assert all(" bfifo limit " in line for line in without)


def test_hosts_are_shaped_to_their_link_unless_the_file_says_not(tmp_path: Path) -> None:
    plan = _plan(tmp_path)
    a = plan.boxes[0].ports[0]

    assert "tbf rate 200000000bit" in host_shaper(a, plan.lab)[0]
    assert host_shaper(a, replace(plan.lab, shaped_senders=False)) == []


def test_a_changed_file_is_another_lab_and_a_comment_is_not(tmp_path: Path) -> None:
    file = file_of(tmp_path, 0)
    before = planned(loaded(file)).digest

    file.write_text("# a comment\n" + file.read_text())
    same = planned(loaded(file)).digest
    file.write_text(file.read_text().replace("speed_gbit_per_s: 0.1", "speed_gbit_per_s: 0.3"))

    assert same == before
    assert planned(loaded(file)).digest != before


def test_the_difference_between_two_trees_is_its_first_line() -> None:
    assert difference("a\nb\n", "a\nb\n") == ""
    assert difference("a\nb\n", "a\n") == "`b` is missing"
    assert difference("a\n", "a\nc\n") == "`c` is there but should not be"
    assert "order" in difference("a\nb\n", "b\na\n")


def test_a_testbed_of_real_machines_is_never_made_of_namespaces() -> None:
    with pytest.raises(LabError, match=r"has no `linux_lab:`.*\n.*remedy"):
        command.up(load(TESTBEDS / "incast-5to1.yaml"), print)


def test_without_root_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)

    with pytest.raises(LabError, match=r"only root .*\n.*remedy: .*sudo"):
        command.up(loaded(file_of(tmp_path, 0)), print)


def test_every_missing_program_is_named_with_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(programs, "SEARCHED", str(tmp_path))

    with pytest.raises(LabError) as caught:
        command.up(loaded(file_of(tmp_path, 0)), print)

    for name, package in programs.PACKAGES.items():
        assert f"'{name}': is not installed\n  remedy: install it: apt install {package}" in str(
            caught.value
        )


def test_what_was_written_of_a_lab_is_believed_when_it_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("labtests.linuxlab.plan.LINUX_LAB_FOLDER", str(tmp_path / "labs"))
    plan = _plan(tmp_path)
    notes = opened(plan)
    notes.write()

    assert ledger_of(plan.name) == notes


@pytest.mark.parametrize(
    "namespace", ["labtests:other", "labtests:other:h1", "h1", "", "{own}:", "{own}:a/b", "{own}x"]
)
def test_notes_that_name_a_namespace_of_somebody_else_are_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, namespace: str
) -> None:
    monkeypatch.setattr("labtests.linuxlab.plan.LINUX_LAB_FOLDER", str(tmp_path / "labs"))
    plan = _plan(tmp_path)
    notes = opened(plan)
    notes.namespaces.append(namespace.format(own=plan.management))
    notes.write()

    with pytest.raises(LabError, match="a namespace that is not this lab's"):
        ledger_of(plan.name)
