"""Processes of a dead run are found by their mark and ended; those of others are not touched."""

import time
from types import SimpleNamespace

import pytest
from in_process import InProcessLab
from typed import typed

from labtests.core.errors import WorkloadError
from labtests.inventory import load
from labtests.transport.protocol import Reply
from labtests.transport.ssh import SHELL, connect
from labtests.workloads.leftovers import leftovers, sweep

TESTBED = "testbeds/h3c-s6550-cx4.yaml"


@pytest.fixture(scope="module")
def simulated(request):
    with InProcessLab(load(request.config.rootpath / TESTBED), seed=1) as lab:
        yield lab


@pytest.fixture
def sessions(simulated):
    device = simulated.reroute(simulated.lab.testbed).device("ServerA")
    opened = SimpleNamespace(
        **{
            name: connect(device, SHELL, clock=simulated.clock, run=name)
            for name in ("mine", "mine2", "theirs")
        }
    )
    yield opened
    for transport in vars(opened).values():
        transport.close()


def test_only_the_run_s_own_processes_are_found_and_ended(sessions):
    started = [  # kept: a process that nobody holds any more ends
        getattr(sessions, name).start(typed(f"iperf3 -s -p 520{len(name)}"), limit_s=600)
        for name in ("mine", "mine2", "theirs")
    ]
    sessions.theirs.run(typed("nohup sleep 500 >/dev/null 2>&1 &"))  # a person's, without a mark
    found = leftovers(sessions.theirs, "mine")
    assert any(process.command == "iperf3 -s -p 5204" for process in found)
    assert len(leftovers(sessions.theirs, "")) == len(started) * len(found)

    ended = sweep(sessions.theirs, "mine")
    assert {process.pid for process in ended} == {process.pid for process in found}
    assert leftovers(sessions.theirs, "mine") == ()
    listed = sessions.theirs.run(typed("ps -eo args")).text
    assert "iperf3 -s -p 5204" not in listed
    for other in ("iperf3 -s -p 5205", "iperf3 -s -p 5206", "sleep 500"):
        assert other in listed
    assert sweep(sessions.theirs, "mine") == ()


def test_a_session_that_is_gone_takes_its_processes_along(sessions):
    server = sessions.mine.start(typed("iperf3 -s -p 5300"), limit_s=600)
    assert leftovers(sessions.theirs, "mine")
    sessions.mine.close()
    assert server.pid not in {process.pid for process in leftovers(sessions.theirs, "theirs")}
    deadline_s = time.monotonic() + 20  # until the other side knows, which takes no lab time
    while leftovers(sessions.theirs, "mine"):
        assert time.monotonic() < deadline_s
        sessions.theirs.run(typed("sleep 1"))


ENVIRON, ENVIRON_8 = "/proc/7/environ\n", "/proc/8/environ\n"
QUIET, NONE, NEW = ("", "", 0), ("", "", 1), ("8 sleep 2", "", 0)


@pytest.mark.parametrize(
    ("grep", "ps", "said"),
    [  # a host whose sudoers has `noexec`; one without grep, ps; one whose grep has no -z (busybox)
        (
            ("", "timeout: failed to run command 'sh': Permission denied", 126),
            None,
            "failed to run",
        ),
        (("", "sh: 1: grep: not found", 127), None, "grep: not found"),
        (("", "grep: unrecognized option: z", 1), None, "unrecognized option"),
        ((ENVIRON, "", 0), ("", "sh: 1: ps: not found", 127), "ps: not found"),
    ],
)
def test_a_host_that_cannot_look_is_not_taken_for_a_clean_one(grep, ps, said):
    with pytest.raises(WorkloadError, match=f"h: .*{said}.*cannot be determined\n.*remedy"):
        leftovers(canned(grep, ps), "")


@pytest.mark.parametrize("status", [1, 2])  # 2: there are processes whose environment is not ours
def test_a_host_that_has_looked_and_found_nothing_is_clean(status):
    noise = "sudo: unable to resolve host h: Temporary failure in name resolution"
    assert leftovers(canned(("", noise, status), None), "") == ()


def test_what_is_started_by_those_that_are_ended_is_ended_too():
    asked: list[str] = []
    host = canned(
        (ENVIRON, "", 0), ("7 sh -c x", "", 0), QUIET, (ENVIRON_8, "", 0), NEW, QUIET, NONE
    )
    plain = host.run
    host.run = lambda command: asked.append(command) or plain(command)
    assert [process.pid for process in sweep(host, "mine")] == [7, 8]
    assert [line for line in asked if "for p in 8;" in line and "kill -KILL" in line]


def test_what_survives_kill_is_said():
    answer = (ENVIRON, "", 0), ("7 sh -c x", "", 0)
    with pytest.raises(WorkloadError, match=r"survive KILL: 7 sh -c x\n.*remedy"):
        sweep(canned(*answer, QUIET, *answer, QUIET, *answer), "mine")


def test_what_is_seen_once_more_because_its_end_takes_a_while_does_not_survive():
    """On a busy host it was found by grep, and ended before ps was asked."""
    answer = (ENVIRON, "", 0), ("7 [x] <defunct>", "", 0)
    ended = sweep(canned((ENVIRON, "", 0), ("7 x", "", 0), QUIET, *answer, QUIET, NONE), "mine")
    assert [process.pid for process in ended] == [7]


def chain():
    """A host on which there is a new process of the run whenever one looks, up to a thousand."""
    rounds = (
        ((f"/proc/{pid}/environ\n", "", 0), (f"{pid} sh -c next", "", 0), QUIET)
        for pid in range(7, 1000)
    )
    return canned(*(answer for each in rounds for answer in each), NONE)


def test_a_chain_of_processes_of_whoever_does_not_keep_a_sweep_going():
    said = r"h: processes of run mine come back .*8 in 8 rounds\): 15 sh -c next\n.*remedy"
    with pytest.raises(WorkloadError, match=said):
        sweep(chain(), "mine")


def test_a_sweep_that_is_told_to_stop_does_one_round():
    with pytest.raises(WorkloadError, match=r"1 in 1 rounds\): 8 sh -c next"):
        sweep(chain(), "mine", stop=lambda: True)
    once = canned((ENVIRON, "", 0), ("7 sh -c x", "", 0), QUIET, NONE)
    assert [process.pid for process in sweep(once, "mine", stop=lambda: True)] == [7]


def canned(*answers):
    """A host that gives these answers (text, errors, status) in this order."""
    replies = iter(answers)

    def run(command):
        text, errors, status = next(replies)
        return Reply(
            device="h", command=command, text=text, errors=errors, status=status, time_s=0.0
        )

    return SimpleNamespace(run=run, device="h")


@pytest.mark.parametrize("run", ["", "a b", "x'; kill -9 1; '"])
def test_no_sweep_without_a_proper_run(sessions, run):
    with pytest.raises(WorkloadError):
        sweep(sessions.theirs, run)
