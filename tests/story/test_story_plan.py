"""--plan says what a run would change, changes nothing, and proves nothing."""

import re

from story_lab import SUITE_TESTS


def commands_of(terminal: str, device: str) -> list[str]:
    """What the plan prints for a device."""
    plan = terminal.partition("plan: nothing was changed")[2]
    (_, after) = re.split(rf"^{device}:$", plan, maxsplit=1, flags=re.M)
    lines = after.lstrip("\n").splitlines()
    end = next(n for n, line in enumerate(lines) if not line.startswith("    "))
    return [line.strip() for line in lines[:end]]


def test_a_plan_prints_per_device_the_exact_commands(plan):
    assert plan.exit_code == 0, plan.terminal
    sender = commands_of(plan.terminal, "ServerA")
    assert sender[0] == "mlnx_qos -i enp3s0f0np0 --trust dscp"
    assert "mlnx_qos -i enp3s0f0np0 -f 0,0,0,1,0,0,0,0" in sender
    assert "mlnx_qos -i enp3s0f0np0 -f 0,0,0,0,0,0,0,0    # put back" in sender
    assert "echo 0 > /sys/class/net/enp3s0f0np0/ecn/roce_rp/enable/3" in sender
    switch = commands_of(plan.terminal, "S6550")
    at = switch.index("priority-flow-control no-drop dot1p 0-7")
    assert switch[at - 1 : at + 3] == [
        "interface Twenty-FiveGigE1/0/14",
        "priority-flow-control no-drop dot1p 0-7",
        "priority-flow-control enable",
        "quit",
    ]
    assert "qos wred apply labtests-ecn-01234567" in switch
    assert "undo qos wred queue table labtests-ecn-01234567    # put back" in switch


def test_a_run_sends_what_its_plan_said(plan, good):
    for device in ("ServerA", "ServerB", "ServerC", "S6550"):
        planned = [line.partition("    # ")[0] for line in commands_of(plan.terminal, device)]
        made = [
            change["command"]
            for test in good.json["tests"]
            for change in test["changes"]
            if change["device"] == device
        ]
        assert made == planned


def test_a_plan_changes_nothing(plan):
    asked = [line for line in plan.journal if line["kind"] in ("run", "start", "configure")]
    assert {line["kind"] for line in asked} == {"run"}
    commands = {line["command"] for line in asked}
    assert {"mlnx_qos -i enp3s0f0np0", "display version"} <= commands
    assert not [
        c for c in commands if re.search(r"(?<!2)>(?!&2)|\becho\b|--trust|-f [0-9]|\bset\b", c)
    ]


def test_a_planned_test_is_no_pass_anywhere(plan):
    assert [t["outcome"] for t in plan.json["tests"]] == ["skipped"] * SUITE_TESTS
    assert {t["error"] for t in plan.json["tests"]} == {
        "planned: nothing was changed and nothing was proven"
    }
    assert [(t["verdicts"], t["phases"]) for t in plan.json["tests"]] == [([], [])] * SUITE_TESTS
    assert all(t["changes"] for t in plan.json["tests"])
    assert re.search(rf"^=+ {SUITE_TESTS} skipped in ", plan.terminal, re.M)
    assert "verdicts (" not in plan.terminal
    assert "PASS" not in plan.terminal
    assert f"{SUITE_TESTS} SKIPPED" in (plan.folder / "report.html").read_text()
    assert f'skipped="{SUITE_TESTS}"' in (plan.folder / "junit.xml").read_text()


def test_a_plan_says_how_long_a_run_takes_test_by_test_and_together(plan):
    told = plan.terminal.partition("estimated duration")[2].splitlines()[1 : SUITE_TESTS + 2]
    times = [line.strip().partition("  ") for line in told]
    suites = {re.sub(r".*/|::.*", "", name): time for time, _, name in times}
    # S1 has a control and an experiment: a quiet window of 5 s, 20 s of traffic, 10 s to settle.
    # At most 60 s to settle, and 63 s more where counters do not add up
    assert suites["test_s1_pfc.py"] == "1 min 10 s, 5 min 16 s at most"
    minutes = re.fullmatch(r"(\d+) min \d+ s, .* at most", times[-1][0])
    assert minutes is not None
    assert 7 <= int(minutes[1]) <= 9
    assert times[-1][2] == "together"
