"""Locks by hand, and two runs of one lab that know nothing of each other's machine."""

from dataclasses import replace

from recovery_lab import Project, opened
from typed import typed

from labtests.lease.held import Held
from labtests.lease.record import me
from labtests.lease.register import Register

SUITE = """
from labtests.inventory import Endpoint
from labtests.capabilities.records import PfcSetting
from labtests.capabilities.settings import PFC
from labtests.transport.commands import script

PORT = Endpoint(device="S6550", interface="Twenty-FiveGigE1/0/13")


def test_first(lab, incast):
    lab.change(PORT, PFC, PfcSetting(mode="on", priorities=frozenset({3})))
    print("CHANGED", flush=True)
    ask = script("test -e /tmp/go && echo yes")
    while lab.transports["ServerA"].run(ask).text != "yes\\n":
        lab.clock.sleep(0.1)
    lab.change(PORT, PFC, PfcSetting(mode="on", priorities=frozenset({3, 5})))
    print("TOO LATE", flush=True)


def test_second(incast):
    print("GOES ON", flush=True)
"""


def elsewhere(register: Register, name: str) -> Held:
    """A run on another machine."""
    holder = replace(
        me("run", run=name, why="its tests", expires_after_s=60.0), machine="far", boot="far"
    )
    return Held(register, holder, clock=StandingClock())


class StandingClock:
    def now_s(self) -> float:
        return 0.0

    def sleep(self, seconds: float) -> None:
        raise AssertionError(f"nothing here waits, asked to for {seconds} s")


def test_a_lock_by_hand_keeps_runs_away_until_it_is_unlocked(project: Project) -> None:
    lab = str(project.testbed_file)
    assert project.labtests("who", lab)[1].startswith("h3c-s6550-cx4: free")
    code, said = project.labtests("lock", lab, "--why", "cabling", "--for", "2h")
    assert (code, "for 120 min" in said) == (0, True), said
    project.suite("def test_it(lab):\n    print('OPEN', flush=True)\n")
    code, said = project.pytest()
    assert (code, "OPEN" in said) == (15, False), said
    assert "lab in use: the lab is locked by" in said
    assert "cabling, runs out in 1" in said
    assert "labtests unlock" in said
    code, said = project.pytest("--under-lock")
    assert (code, "OPEN" in said) == (0, True), said
    assert "cabling" in project.labtests("who", lab)[1]
    code, said = project.labtests("unlock", lab)
    assert (code, said) == (0, "h3c-s6550-cx4: free\n")


def test_a_run_that_loses_the_lab_stops_and_is_put_back_when_it_is_free(project: Project) -> None:
    lab, suite = str(project.testbed_file), project.suite
    suite(SUITE)
    with opened(project.testbed) as mine:
        host = mine.transports["ServerA"]
        register = Register(host, "/var/tmp/labtests-lease")
        run = project.started("--lab-seconds", "9", "--idle-s", "0.5")
        assert run.stdout is not None
        assert any("CHANGED" in line for line in run.stdout)
        code, said = project.labtests("lock", lab, "--why", "demo")
        assert (code, "in use by run" in said, "test_suite.py" in said) == (15, True, True), said
        assert project.labtests("unlock", lab)[0] == 15  # not ours
        other = elsewhere(register, "far-run")
        other.take(force=True)
        host.run(typed("touch /tmp/go"))
        said, _ = run.communicate(timeout=60)
        host.run(typed("rm /tmp/go"))
        assert run.returncode == 15, said
        assert "TOO LATE" not in said
        assert "GOES ON" not in said
        assert "run far-run" in said
        assert "1 changes not yet undone; run: labtests restore" in said
        other.expect_held()
        code, said = project.labtests("restore")
        assert (code, "far-run" in said) == (15, True), said
        other.give_back()
        code, said = project.labtests("restore")
        assert (code, "\nrestored " in said) == (0, True), said
        assert register.look().holder is not None
        assert "free" in project.labtests("who", lab)[1]
