"""kill -9 of a run against a lab that lives on: found, refused, put back, nothing left."""

import signal
import time

from recovery_lab import Project, everything, nothing_runs, opened, traffic_tools

from labtests.journal import read_changes
from labtests.recovery import find

SUITE = """
import os
import signal

from labtests.experiment.incast import Class
from labtests.capabilities.records import PfcSetting
from labtests.capabilities.settings import REACTION_POINT


def say(text):
    print(text, flush=True)
    if (end := os.environ.get("DIE_AT")) and end in text:
        os.kill(os.getpid(), signal.SIGKILL)


def test_it(incast):
    incast.trust_dscp()
    incast.pfc_at_switch(PfcSetting(mode="on", priorities=frozenset({3, 5})))
    incast.ecn_at_bottleneck(incast.marking({2, 3}))
    incast.set(incast.senders[0].nic, REACTION_POINT, frozenset({1, 2}))
    say("CHANGED")
    incast.progress = say
    traffic = incast.udp(Class(tos=0x60, offered_share=0.1), Class(tos=0xA0, offered_share=0.1))
    incast.run("going", traffic)
    incast.judge()
"""
READ_ONLY = """
def test_it(lab):
    print("OPEN", flush=True)
"""
ENDS_WITHIN_S = 6  # TERM at once, KILL two seconds later; the rest is a busy machine


def test_a_killed_run_is_found_refused_and_put_back(project: Project) -> None:
    project.suite(SUITE)
    with opened(project.testbed) as lab:
        found = everything(lab)
        project.pytest("--lab-seconds", "9", die_at="ServerB -> ServerC:5202: starting")
        assert nothing_runs(lab, ENDS_WITHIN_S), traffic_tools(lab)
        changed = {name for name, value in everything(lab).items() if value != found[name]}
        assert {name.split()[0] for name in changed} >= {"S6550", "ServerA", "ServerB", "ServerC"}

        project.suite(READ_ONLY)
        code, said = project.pytest()
        assert code == 10
        assert "OPEN" not in said
        assert "died and left 10 changes on this lab" in said
        assert "labtests restore" in said

        code, said = project.labtests("restore")
        assert (code, said.count("\nrestored ")) == (0, 10), said
        assert everything(lab) == found
    assert project.labtests("restore") == (0, "no unfinished runs; nothing to restore\n")


def test_recover_puts_back_first_and_then_runs(project: Project) -> None:
    project.suite(SUITE)
    with opened(project.testbed) as lab:
        found = everything(lab)
        assert project.pytest(die_at="CHANGED")[0] == -9
        project.suite(READ_ONLY)
        code, said = project.pytest("--recover", "-v")
        assert code == 0, said
        assert said.index("10 restored") < said.index("OPEN")
        assert everything(lab) == found


def test_a_lab_in_use_is_refused_with_who_and_since_when(project: Project) -> None:
    """Also a frozen runner is one that lives: nobody else may take its lab."""
    project.suite(SUITE)
    first = project.started("--lab-seconds", "9")
    try:
        assert first.stdout is not None
        for line in first.stdout:
            if "CHANGED" in line:
                break
        first.send_signal(signal.SIGSTOP)
        code, said = project.pytest()
        assert code == 15
        assert f"process {first.pid} on" in said
        assert "still runs" in said
        code, said = project.labtests("restore")
        assert (code, "still runs" in said) == (0, True)  # of all: it is left to itself
        assert project.labtests("restore", said.split()[1])[0] == 15
        first.send_signal(signal.SIGCONT)
        first.send_signal(signal.SIGTERM)
        first.communicate(timeout=60)
    finally:
        first.kill()
        first.wait()
    assert project.labtests("restore") == (0, "no unfinished runs; nothing to restore\n")


def test_what_cannot_be_put_back_is_said_with_the_commands_to_type(project: Project) -> None:
    """One host is not reachable any more: the other devices are put back all the same."""
    project.suite(SUITE)
    host = "ServerA"
    with opened(project.testbed) as lab:
        found = everything(lab)
        assert project.pytest(die_at="CHANGED")[0] == -9
        text = project.testbed_file.read_text()
        port = str(project.served.ports[host])
        elsewhere = project.folder / "elsewhere.yaml"
        elsewhere.write_text(text.replace(f"port: {port}", "port: 9"))
        code, said = project.labtests("restore", "--testbed", str(elsewhere))
        assert code == 10
        assert f"type these commands by hand on {host}:" in said
        assert "mlnx_qos -i enp3s0f0np0 --trust pcp" in said
        now = everything(lab)
        assert {name.split(":")[0].split()[0] for name in now if now[name] != found[name]} == {host}
        assert project.labtests("restore")[0] == 0
        assert everything(lab) == found


def test_a_recovery_that_is_killed_can_be_recovered(project: Project, monkeypatch) -> None:
    from labtests.lab.sending import Sending
    from labtests.recovery import recover

    project.suite(SUITE)
    with opened(project.testbed) as lab:
        found = everything(lab)
        assert project.pytest(die_at="CHANGED")[0] == -9
        (run_file,) = (project.state / "labtests" / "unfinished").glob("*.json")
        run = find(run_file.stem)
        outcomes = Sending.outcomes
        for after in (1, 4, 7):

            def dying(self, *what, left=[after], **how):  # noqa: B006 - one list a loop
                for outcome in outcomes(self, *what, **how):
                    yield outcome
                    left[0] -= 1
                    if not left[0]:
                        raise SystemExit("killed")

            with monkeypatch.context() as patched:
                patched.setattr(Sending, "outcomes", dying)
                try:
                    recover(run)
                except SystemExit:
                    continue
        done = recover(run)
        assert done.complete, done.lines()
        assert read_changes(run.journal).ended
        assert everything(lab) == found


def test_a_dry_run_that_was_killed_blocks_nobody(project: Project) -> None:
    project.suite(SUITE)
    assert project.pytest("--dry-run", die_at="CHANGED")[0] == -9
    project.suite(READ_ONLY)
    code, said = project.pytest("--dry-run", "-v")
    assert code == 0, said
    assert "a dry run; its simulated lab died with it" in said
    assert project.labtests("restore") == (0, "no unfinished runs; nothing to restore\n")
    deadline_s = time.monotonic() + 5
    while list((project.state / "labtests" / "unfinished").glob("*.json")):
        assert time.monotonic() < deadline_s


GIVEN_AWAY = """
import os
import signal

from labtests.capabilities.records import PfcSetting
from labtests.capabilities.settings import PFC


def test_it(incast):
    at = incast.senders[0].nic
    incast.set(at, PFC, PfcSetting(mode="on", priorities=frozenset({3})))
    incast.pfc_at_switch(PfcSetting(mode="on", priorities=frozenset({4, 5})))
    incast.tell_by_dcbx("standard")
    incast.give_to_firmware()
    incast.let_dcbx_settle()
    assert incast.lossless_at_hosts() == {4, 5}
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_firmware_took_over_is_put_back_after_a_kill(project: Project) -> None:
    project.suite(GIVEN_AWAY)
    with opened(project.testbed) as lab:
        found = everything(lab)
        assert project.pytest()[0] == -9
        changed = {name for name, value in everything(lab).items() if value != found[name]}
        assert {name.split()[0] for name in changed} >= {"S6550", "ServerA", "ServerB"}
        code, said = project.labtests("restore")
        assert code == 0, said
        assert everything(lab) == found
