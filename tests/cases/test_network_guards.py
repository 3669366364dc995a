"""Guards in case files: the documented storm, deadlock and cycle; what they did; mistakes."""

from pathlib import Path
from typing import Any

import pytest

from labtests.core.errors import InventoryError
from labtests.network.cases import CaseFile, Figures, load, run
from labtests.network.cases.printing import lines

CASES = Path(__file__).parents[2] / "docs" / "cases"
RING = 4 * 100_000  # bytes: every ingress group of the ring at its xoff


def changed(name: str, *, switch: dict[str, Any] | None = None, **more: Any) -> CaseFile:
    """A documented case with other settings."""
    tree = load(CASES / f"{name}.yaml").model_dump()
    tree["switch"] |= switch or {}
    return CaseFile.model_validate(tree | more)


def standing(figures: Figures) -> float:
    """Bytes in the sampled queues at the end."""
    return sum(queue.series_bytes[-1] for queue in figures.queues)


class TestStorm:
    def test_the_victim_waits_until_the_watchdog_acts(self) -> None:
        figures = run(changed("pause-storm"))
        (guard,) = figures.guards
        assert (guard.switch, guard.port, guard.priority) == ("s1", "culprit", 3)
        assert (guard.last_shut_ms, guard.last_restored_ms) == (140, 440)
        victim = figures.flows[1].goodput_series_gbit_per_s  # bins of 10 ms
        assert max(victim[1:14]) == 0
        assert victim[14] > 4  # h1 sends all it may to the culprit
        assert victim[18] == pytest.approx(9.26, abs=0.01)
        assert figures.dropped_frames == guard.drained + guard.aggregate_dropped > 0
        text = "\n".join(lines(figures))
        assert "last shut ms" in text
        assert "140.000           440.000" in text

    def test_without_a_watchdog_it_waits_for_the_end_of_the_storm(self) -> None:
        figures = run(changed("pause-storm", switch={"watchdog": None}, duration_ms=300.0))
        assert figures.guards == ()
        assert figures.dropped_frames == 0
        bin_ms = figures.bin_ms
        victim = figures.flows[1].goodput_series_gbit_per_s
        assert max(victim[int(12 / bin_ms) : int(250 / bin_ms)]) == 0
        assert victim[-1] > 4

    def test_a_port_can_have_a_guard_of_its_own(self) -> None:
        ports = {"victim": {"watchdog": {"phase_ms": 40}}}
        case = changed("pause-storm", switch={"watchdog": None, "ports": ports}, duration_ms=200.0)
        assert run(case).guards == ()
        ports = {"culprit": {"deadlock": {"interval_ms": 50, "delay_ms": 1000, "phase_ms": 0}}}
        case = changed("pause-storm", switch={"ports": ports}, duration_ms=200.0)
        (guard,) = run(case).guards
        assert guard.last_shut_ms == 60
        assert guard.drained == 0  # it forwards

    def test_a_pause_timeout_helps_the_victim_too(self) -> None:
        timeout = {"timeout_ms": 100, "phase_ms": 40}
        switch = {"watchdog": None, "pause_timeout": timeout}
        (guard,) = run(changed("pause-storm", switch=switch)).guards
        assert (guard.last_shut_ms, guard.last_restored_ms) == (140, 340)


class TestDeadlock:
    def test_the_documented_deadlock_is_released(self) -> None:
        figures = run(changed("deadlock"))
        assert standing(figures) == 0
        assert [guard.switch for guard in figures.guards][:1] == ["s4"]
        assert figures.guards[0].last_shut_ms == pytest.approx(2.25, abs=0.1)
        lost = {(drop.switch, drop.port): drop.headroom for drop in figures.drops if drop.headroom}
        assert list(lost) == [("s1", "s4")]  # s4 sends in spite of s1's pause
        used_up = sum(drop.ttl for drop in figures.drops)
        assert used_up + lost["s1", "s4"] == figures.dropped_frames

    def test_without_detection_it_stands_for_ever(self) -> None:
        stood = [
            run(changed("deadlock", switch={"deadlock": None}, duration_ms=duration_ms))
            for duration_ms in (3.0, 30.0)
        ]
        assert standing(stood[0]) == standing(stood[1]) > RING
        assert stood[0].dropped_frames == stood[1].dropped_frames

    def test_by_hand_it_is_released_and_stays_unguarded(self) -> None:
        guard = {"interval_ms": 2, "precision_ms": 0.1, "recover_mode": "manual"}
        figures = run(changed("deadlock", switch={"deadlock": guard}))
        assert standing(figures) == 0
        assert {guard.restored for guard in figures.guards} == {0}

    def test_a_watchdog_that_drops_releases_it_too(self) -> None:
        guard = {"interval_ms": 2, "poll_ms": 2}
        figures = run(changed("deadlock", switch={"deadlock": None, "watchdog": guard}))
        assert standing(figures) == 0
        assert sum(guard.drained for guard in figures.guards) > 0

    @pytest.mark.parametrize(("rate", "stands"), [(22.5, False), (24.5, True)])
    def test_it_takes_more_than_n_b_over_ttl(self, rate: float, stands: bool) -> None:
        case = changed("deadlock", switch={"deadlock": None})  # 25 Gbit/s on the wire: 23.5
        flow = case.flows[0].model_copy(update={"rate_gbit_per_s": rate, "stop_us": 5000.0})
        figures = run(case.model_copy(update={"flows": [flow]}))
        assert (standing(figures) > RING) == stands


class TestCycle:
    """Hu et al. (HotNets 2016): a cyclic buffer dependency is necessary, not sufficient."""

    @staticmethod
    def with_third_flow(third: dict[str, Any] | None, stop_ms: float = 2.0) -> Figures:
        tree = load(CASES / "cyclic-dependency.yaml").model_dump()
        tree["flows"] += [third] if third else []
        for flow in tree["flows"]:
            flow["stop_us"] = stop_ms * 1000
        return run(CaseFile.model_validate(tree | {"duration_ms": stop_ms + 2}))

    def test_two_flows_cross_and_do_not_deadlock(self) -> None:
        figures = self.with_third_flow(None, stop_ms=20)
        assert standing(figures) == 0
        held = {(p.device, p.port) for p in figures.pauses if p.paused_us > 0}
        assert held >= {("s2", "s3"), ("s4", "s1")}  # half of the cycle pauses
        assert not held & {("s1", "s2"), ("s3", "s4")}

    def test_a_third_flow_makes_it_a_deadlock(self) -> None:
        figures = self.with_third_flow({"source": "b2", "target": "c2"})
        assert standing(figures) > RING
        series = figures.flows[0].goodput_series_gbit_per_s
        assert max(series[int(1 / figures.bin_ms) :]) == 0

    @pytest.mark.parametrize(("stop_ms", "stands"), [(5.0, False), (20.0, True)])
    def test_a_slow_third_flow_takes_longer(self, stop_ms: float, stands: bool) -> None:
        third = {"source": "b2", "target": "c2", "kind": "udp", "rate_gbit_per_s": 2.0}
        figures = self.with_third_flow(third | {"datagram_bytes": 1000}, stop_ms)
        assert (standing(figures) > RING) == stands


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ("watchdog: {}, deadlock: {interval_ms: 1, delay_ms: 1}", "a port has one of them"),
        ("pause_timeout: {}, watchdog: {}", "pause_timeout: watchdog is given too"),
        ("watchdog: {shutdown_multiplier: 11}", "watchdog.shutdown_multiplier: must be at most"),
        ("deadlock: {interval_ms: 1}", "switch.deadlock: recover mode auto needs a delay_ms"),
        ("watchdog: {interval_ms: 2000000}", "switch.watchdog: interval_ms 2e+06 is not"),
        ("ports: {a: {deadlock: {interval_ms: 1}}}", "switch.ports.a.deadlock: recover mode"),
        ("watchdog: {action: shut}", "switch.watchdog.action"),
    ],
)
def test_mistakes_name_their_place(tmp_path: Path, settings: str, problem: str) -> None:
    file = tmp_path / "case.yaml"
    file.write_text(
        "name: small\nduration_ms: 1\nhosts: {a: , b: }\nswitches: {s: }\n"
        f"switch: {{pfc: [3], {settings}}}\n"
        "links:\n  - {between: [a, s], rate_gbit_per_s: 10, length_m: 1}\n"
        "  - {between: [b, s], rate_gbit_per_s: 10, length_m: 1}\n"
        "flows: [{source: a, target: b}]\n",
        encoding="utf-8",
    )
    with pytest.raises(InventoryError, match=r"case\.yaml:5:") as raised:
        load(file)
    assert problem in str(raised.value)
