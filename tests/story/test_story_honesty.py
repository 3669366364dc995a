"""Nothing that is wrong with a lab becomes a pass. Each test breaks one thing and reads the reason.

The same experiment passes in front of a whole lab, so it is the fault that makes it red.
"""

from dataclasses import replace

import pytest
from story_lab import EVERY, OUT, S2, SWITCH, Bench
from typed import typed

from labtests.capabilities.counters import QUEUE_DROPPED_PACKETS, QUEUE_FORWARDED_PACKETS
from labtests.capabilities.records import EcnSetting
from labtests.core.errors import CommandRejected, LabError, LabErrors, ToolMissing, UnreadableOutput
from labtests.experiment import Incast, NotPassed
from labtests.verdicts import Outcome, lossless, slowed_by_marks

QUIET, TRAFFIC = "experiment 'PFC on': quiet window", "experiment 'PFC on': traffic"
QUEUE_5 = f"{SWITCH} {OUT} queue 5"
LOSS = {"kind": "drop-packets", "device": SWITCH, "port": OUT, "queue": 5, "per_million": 4000}
DEAD = {"kind": "dead-counter", "device": SWITCH, "port": OUT, "counter": "queue-drops"}
DCQCN = "experiment 'ECN on': traffic"


def expect_red(bench: Bench, outcome: Outcome, *words: str) -> None:
    """The experiment does not pass, says why, and puts the lab back all the same."""
    found = bench.settings()
    with pytest.raises(NotPassed) as caught:
        bench.lose_nothing()
    assert caught.value.outcome is outcome, caught.value
    for expected in words:
        assert expected in str(caught.value)
    assert bench.settings() == found


def expect_error(bench: Bench, kind: type[LabError], *words: str) -> None:
    """The experiment ends with an error that names device, command and remedy."""
    with pytest.raises(kind) as caught:
        bench.lose_nothing(controls=False)
    for expected in words:
        assert expected in str(caught.value)


def test_a_whole_lab_passes_but_not_when_any_counter_of_its_queues_is_taken_away(bench):
    incast = bench.lose_nothing()
    seen = incast.phases[-1].evidence
    needed = {
        r.key
        for r in seen.after
        if (r.device, r.port) == (SWITCH, OUT) and r.index in (3, 5)
        if r.counter in (QUEUE_DROPPED_PACKETS, QUEUE_FORWARDED_PACKETS)
    }
    assert len(needed) == 4
    assert lossless(seen, {3, 5}, controls=incast.controls).outcome is Outcome.PASS
    for key in needed:
        holed = replace(seen, after=tuple(r for r in seen.after if r.key != key))
        assert lossless(holed, {3, 5}, controls=incast.controls).outcome is Outcome.INCONCLUSIVE
    assert slowed_by_marks(seen).outcome is Outcome.FAIL  # nothing marked: PFC did the work


# -- drops and their counters --------------------------------------------------------------------


def test_a_loss_of_four_in_a_thousand_is_a_fail_that_names_the_queue(bench):
    bench.fault_when(TRAFFIC, **LOSS)
    expect_red(bench, Outcome.FAIL, f"{QUEUE_5} dropped_packets grew by ")


def test_the_same_loss_behind_a_counter_that_died_after_its_control_is_inconclusive(bench):
    bench.fault_when(QUIET, **DEAD)
    bench.fault_when(TRAFFIC, **LOSS)
    expect_red(
        bench,
        Outcome.INCONCLUSIVE,
        "counters disagree: sent by NICs is not forwarded + dropped, queue 5: "
        "ServerB ens6f0np0 priority 5",
    )


def test_a_drop_counter_that_never_counted_proves_nothing(bench):
    bench.simulated.fault(**DEAD)
    bench.fault_when(TRAFFIC, **LOSS)
    expect_red(
        bench,
        Outcome.INCONCLUSIVE,
        f"{QUEUE_5} drop counter is unproven: in no control of this session did it "
        "count the losses",
    )


def test_a_queue_that_disappears_between_two_reads_is_no_zero(bench):
    bench.fault_when(
        TRAFFIC, 1.0, kind="missing-counter", device=SWITCH, port=OUT, counter="queue-5"
    )
    expect_red(
        bench,
        Outcome.INCONCLUSIVE,
        f"{QUEUE_5} dropped_packets: no value after the run: the switch did not show queue 5",
    )


def test_counters_that_are_cleared_in_mid_run_are_inconclusive(bench):
    bench.fault_when(TRAFFIC, 1.0, kind="reset-counters", device=SWITCH)
    expect_red(
        bench, Outcome.INCONCLUSIVE, f"{QUEUE_5} dropped_packets: ran backwards from ", "cleared"
    )


def test_counters_of_a_nic_that_are_cleared_in_mid_run_are_inconclusive(bench):
    bench.fault_when(TRAFFIC, 1.0, kind="reset-counters", device="ServerB")
    expect_red(
        bench, Outcome.INCONCLUSIVE, "ServerB ens6f0np0 priority 5 tx_packets: ran backwards from "
    )


def test_an_answer_that_is_cut_in_the_middle_is_refused(bench):
    bench.fault_when(
        TRAFFIC, 1.0, kind="truncate", device=SWITCH, command="display qos queue-statistics"
    )
    found = bench.settings()
    expect_error(
        bench,
        UnreadableOutput,
        f"{SWITCH}: 'display qos queue-statistics interface {OUT} outbound': ",
        "remedy: ",
    )
    assert bench.settings() == found


# -- settings that are not made ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("device", "words"),
    [
        (SWITCH, "accepted, but trust of Twenty-FiveGigE1/0/14 reads back as "),
        ("ServerA", "ServerA: 'mlnx_qos -i enp3s0f0np0 --trust dscp': accepted, but trust of "),
    ],
)
def test_a_device_that_says_yes_and_does_nothing_is_found_out(bench, device, words):
    found = bench.settings()
    bench.simulated.fault(kind="lie", device=device)
    expect_error(bench, CommandRejected, words, "remedy: ")
    assert bench.settings() == found


def test_a_nic_whose_pfc_somebody_has_switched_off_is_named(bench):
    """After it was read back and before the traffic: the switch pauses in vain, and is innocent."""

    def off() -> None:
        bench.lab.transports["ServerA"].run(typed("mlnx_qos -i enp3s0f0np0 -f 0,0,0,0,0,0,0,0"))

    bench.when(QUIET, off)
    expect_red(
        bench, Outcome.INCONCLUSIVE, "pfc of ServerA enp3s0f0np0 was changed externally", "queue 3"
    )


def test_a_curve_that_never_marks_is_red(bench, monkeypatch):
    """WRED without ECN where it is needed, as read from the switch; the mark counter stays 0."""
    marks_elsewhere = Incast.marking

    def marking(incast: Incast, queues: frozenset[int]) -> EcnSetting:
        return marks_elsewhere(incast, EVERY - {2, 3})

    monkeypatch.setattr(Incast, "marking", marking)
    with pytest.raises(NotPassed) as caught:
        bench.run(S2, with_controls=False)
    assert caught.value.outcome is Outcome.FAIL
    assert f"{SWITCH} {OUT} ecn_marked_packets stayed 0" in str(caught.value)


# -- tools -----------------------------------------------------------------------------------------


def test_a_sender_that_is_killed_in_mid_run_is_inconclusive_in_its_tools_words(bench):
    bench.fault_when(TRAFFIC, 1.0, kind="kill", device="ServerA", process="iperf3")
    expect_red(
        bench,
        Outcome.INCONCLUSIVE,
        "ServerA -> ServerC (iperf3) did not run: exit status 137 (ended by SIGKILL)",
    )


@pytest.mark.parametrize(
    ("device", "words"),
    [
        ("ServerA", "ServerA -> ServerC (ib_send_bw) did not run: exit status 137 (ended by SIGKI"),
        ("ServerC", "did not run: its server on ServerC ended with status 137"),
    ],
)
def test_an_ib_send_bw_that_is_killed_in_mid_run_is_inconclusive_too(bench, device, words):
    bench.fault_when(DCQCN, 3.0, kind="kill", device=device, process="ib_send_bw")
    with pytest.raises(NotPassed) as caught:
        bench.run(S2, with_controls=False)
    assert caught.value.outcome is Outcome.INCONCLUSIVE
    assert words in str(caught.value)


@pytest.mark.parametrize("tool", ["iperf3", "mlnx_qos"])
def test_a_tool_that_is_not_installed_is_an_error_with_its_remedy(bench, tool):
    bench.simulated.fault(kind="remove-tool", device="ServerB", tool=tool)
    if tool == "mlnx_qos":
        expect_error(bench, ToolMissing, "ServerB: 'mlnx_qos -i ens6f0np0'", "install mlnx-tools")
    else:
        expect_red(bench, Outcome.INCONCLUSIVE, "ServerB -> ServerC (iperf3) did not run: ", tool)


def test_a_driver_without_ecn_folder_is_an_error_with_its_remedy(bench):
    bench.simulated.fault(kind="no-ecn-folder", device="ServerB")
    with pytest.raises(ToolMissing) as caught:
        bench.run(S2)
    assert str(caught.value).startswith("ServerB: 'grep -H . /sys/class/net/ens6f0np0/ecn/roce_rp/")
    assert "there is no ecn/ folder: this is the inbox driver" in str(caught.value)
    assert "remedy: install MLNX_OFED or DOCA-OFED" in str(caught.value)


@pytest.mark.parametrize("device", ["ServerB", SWITCH])
def test_a_session_that_breaks_in_mid_run_is_an_error(bench, device):
    bench.fault_when(TRAFFIC, 1.0, kind="cut", device=device)
    expect_error(bench, LabErrors, f"{device}:", "could not be restored", "the SSH session with")
