"""The switch's memory, one mechanism at a time: pool, egress limits, priorities, where drops go."""

import dataclasses
import math
from typing import Any

import pytest
from network_star import Lab, Star

from labtests.network import GroupMemory, RcFlow, SwitchMemory, WredCurve

GIGABIT = 10**9
FRAME_CELLS = 6  # 1106 bytes in cells of 208


def incast(star: Lab, senders: int, memory: SwitchMemory) -> tuple[Star, list[RcFlow]]:
    """`senders` at 100G into one receiver, lossless, on cables that need headroom."""
    lab = star(senders + 1, rate_bits_per_s=100 * GIGABIT, length_m=300, memory=memory)
    lab.without_dcqcn().lossless(3)
    return lab, [lab.rc(host, 3) for host in range(1, senders + 1)]


def headroom_drops(lab: Star) -> int:
    return sum(lab.switch.drop_counters(f"p{i}").headroom_drops for i in range(lab.hosts))


class TestHeadroomPool:
    def test_a_pool_as_large_as_all_headrooms_gives_the_same_as_headroom_of_ones_own(
        self, star: Lab
    ) -> None:
        shared = 16_000_000 // 208 - 5 * 8 * 8 - 5 * 500
        own, _ = incast(star, 4, SwitchMemory(headroom_cells=500))
        pooled, _ = incast(
            star, 4, SwitchMemory(headroom_pool_cells=5 * 500, headroom_pool_limit_cells=500)
        )
        for lab in (own, pooled):
            lab.run_ms(5)
            assert lab.switch.memory_use().shared_cells == shared
        for port in ("p1", "p2", "p3", "p4"):
            a, b = own.switch.group_counters(port)[3], pooled.switch.group_counters(port)[3]
            assert a.peak_headroom_cells == b.peak_headroom_cells > 0
            assert a.peak_shared_cells == b.peak_shared_cells > 0
        assert own.switch.memory_use().peak_headroom_pool_cells == 0
        assert pooled.switch.memory_use().peak_headroom_pool_cells > 0

    def test_groups_take_their_own_headroom_first_and_from_the_pool_what_is_lacking(
        self, star: Lab
    ) -> None:
        memory = SwitchMemory(headroom_cells=30, headroom_pool_cells=2000)
        lab, _ = incast(star, 4, memory)
        lab.run_ms(5)
        groups = [lab.switch.group_counters(f"p{i}")[3] for i in range(1, 5)]
        use = lab.switch.memory_use()
        lacking = [max(0, group.peak_headroom_cells - 30) for group in groups]
        assert max(lacking) <= use.peak_headroom_pool_cells <= sum(lacking)
        assert headroom_drops(lab) == 0
        frames = math.ceil(2 * 12.5 * 1500 / 1126) + 3  # 2 R d + 2 MTU, and the PFC frame
        peaks = [group.peak_headroom_cells for group in groups]
        assert 30 < max(peaks) <= frames * FRAME_CELLS

    @pytest.mark.parametrize(
        "memory",
        [
            SwitchMemory(headroom_cells=12, headroom_pool_cells=60),  # the pool is too small
            SwitchMemory(headroom_pool_cells=5000, headroom_pool_limit_cells=60),  # the share
        ],
    )
    def test_overrun_of_both_is_a_headroom_drop_of_the_group(
        self, star: Lab, memory: SwitchMemory
    ) -> None:
        lab, _ = incast(star, 4, memory)
        lab.run_ms(5)
        groups = [lab.switch.group_counters(f"p{i}")[3] for i in range(lab.hosts)]
        assert groups[0].headroom_drops == 0
        assert sum(group.headroom_drops for group in groups) == headroom_drops(lab) > 0
        assert sum(group.buffer_drops for group in groups) == 0
        assert lab.switch.queue_counters("p0")[3].dropped_packets == headroom_drops(lab)
        own = memory.headroom_cells or 0
        cap = own + min(memory.headroom_pool_cells, memory.headroom_pool_limit_cells or 2**30)
        peaks = [group.peak_headroom_cells for group in groups]
        assert cap - FRAME_CELLS < max(peaks) <= cap
        assert lab.switch.memory_use().peak_headroom_pool_cells <= memory.headroom_pool_cells

    def test_the_pool_is_empty_when_the_traffic_is_gone_whatever_was_set_meanwhile(
        self, star: Lab
    ) -> None:
        lab, flows = incast(star, 4, SwitchMemory(headroom_cells=6, headroom_pool_cells=3000))
        while lab.switch.group_counters("p1")[3].pool_used_cells == 0:
            lab.run_ms(0.001)
        lab.switch.set_pfc("p1", "off", frozenset())
        for flow in flows:
            flow.stop()
        lab.run_ms(20)
        use = lab.switch.memory_use()
        assert use.used_cells == use.shared_used_cells == use.headroom_pool_used_cells == 0
        assert sum(use.headroom_used_cells.values()) == 0
        assert use.peak_headroom_pool_cells > 0


class TestEgressLimits:
    @pytest.mark.parametrize(("alpha", "queues"), [(0.5, 1), (1.0, 2), (2.0, 3), (0.25, 4)])
    def test_n_lossy_queues_settle_at_the_dynamic_limit(
        self, star: Lab, alpha: float, queues: int
    ) -> None:
        pool, guaranteed = 6000, 40
        memory = SwitchMemory(
            egress_alpha=alpha, egress_shared_cells=pool, egress_guaranteed_cells=guaranteed
        )
        lab = star(3, memory=memory)
        for priority in range(queues):
            for host in (1, 2):
                lab.udp(host, priority, 8e9)
        lab.run_ms(40)
        each = alpha * pool / (1 + alpha * queues)
        lengths = [lab.switch.queue_counters("p0")[i].length_cells for i in range(queues)]
        for length in lengths:
            assert length == pytest.approx(guaranteed + each, rel=0.02, abs=10)
        use = lab.switch.memory_use()
        assert use.egress_shared_used_cells == sum(length - guaranteed for length in lengths)
        assert use.egress_shared_cells == pool
        drops = lab.switch.drop_counters("p0")
        assert drops.output_buffer_drops > 0
        assert [lab.switch.drop_counters(f"p{i}").input_drops for i in range(3)] == [0] * 3

    def test_lossless_frames_are_never_refused_at_the_egress_and_take_none_of_the_lossy_share(
        self, star: Lab
    ) -> None:
        memory = SwitchMemory(
            alpha=1.0, egress_alpha=1.0, egress_shared_cells=600, egress_guaranteed_cells=8
        )
        lab = star(4, memory=memory).without_dcqcn().lossless(3)
        lab.rc(1, 3)
        lab.rc(2, 3)
        lab.udp(3, 0, 9e9)
        lab.udp(1, 0, 9e9)
        lab.run_ms(30)
        queues = lab.switch.queue_counters("p0")
        assert queues[3].length_cells > 5000
        assert (queues[3].dropped_packets, queues[3].lossy_cells) == (0, 0)
        assert queues[0].tail_dropped_packets == queues[0].dropped_packets > 0
        assert queues[0].lossy_cells == queues[0].length_cells
        assert queues[0].length_cells == pytest.approx(8 + 300, abs=8)

    def test_the_egress_pool_is_as_large_as_the_shared_pool_unless_given(self, star: Lab) -> None:
        lab = star(memory=SwitchMemory(egress_alpha=0.5)).lossless(3)
        use = lab.switch.memory_use()
        assert use.egress_shared_cells == use.shared_cells < use.total_cells

    def test_making_a_class_lossless_takes_its_queued_frames_out_of_the_lossy_share(
        self, star: Lab
    ) -> None:
        lab = star(memory=SwitchMemory(egress_alpha=1.0, egress_guaranteed_cells=0))
        for host in (1, 2):
            lab.udp(host, 3, 8e9)
            lab.udp(host, 4, 8e9)
        lab.run_ms(5)
        before = lab.switch.memory_use().egress_shared_used_cells
        lab.switch.set_pfc("p1", "on", frozenset({3}))
        lab.switch.set_pfc("p2", "on", frozenset({3}))
        queues = lab.switch.queue_counters("p0")
        assert queues[3].lossy_cells == 0 < queues[4].lossy_cells
        after = lab.switch.memory_use().egress_shared_used_cells
        assert after == queues[4].lossy_cells == before - queues[3].length_cells
        lab.run_ms(5)
        lab.switch.set_pfc("p1", "off", frozenset())
        lab.switch.set_pfc("p2", "off", frozenset())
        queues = lab.switch.queue_counters("p0")
        total = sum(queue.length_cells for queue in queues)
        assert lab.switch.memory_use().egress_shared_used_cells == total > 0


class TestPriorities:
    def test_each_priority_settles_at_its_own_threshold(self, star: Lab) -> None:
        memory = SwitchMemory(
            alpha=1 / 8,
            xon_offset_cells=12,
            priorities={4: GroupMemory(alpha=1 / 2), 5: GroupMemory(xoff_cells=700)},
        )
        lab = star(3, memory=memory).without_dcqcn().lossless(3, 4, 5)
        for host in (1, 2):
            for priority in (3, 4, 5):
                lab.rc(host, priority)
        lab.run_ms(20)
        shared = lab.switch.memory_use().shared_cells
        left = shared - lab.switch.memory_use().shared_used_cells
        for port in ("p1", "p2"):
            groups = lab.switch.group_counters(port)
            assert groups[3].shared_used_cells == pytest.approx(left / 8, rel=0.03)
            assert groups[4].shared_used_cells == pytest.approx(left / 2, rel=0.03)
            assert groups[5].shared_used_cells == pytest.approx(700, abs=12)
        # two groups of each alpha and two static ones share the pool
        assert left == pytest.approx((shared - 2 * 700) / (1 + 2 / 8 + 2 / 2), rel=0.01)

    def test_guarantees_and_headroom_of_a_priority_are_reserved_for_it(self, star: Lab) -> None:
        plain = star(3, memory=SwitchMemory(headroom_cells=50)).lossless(3, 4)
        own = GroupMemory(guaranteed_cells=20, headroom_cells=80, xon_offset_cells=7)
        other = star(3, memory=SwitchMemory(headroom_cells=50, priorities={4: own})).lossless(3, 4)
        before, after = plain.switch.memory_use(), other.switch.memory_use()
        assert before.shared_cells - after.shared_cells == 3 * (20 - 8) + 3 * (80 - 50)

    @pytest.mark.parametrize("wrong", [{"alpha": 0.0}, {"priorities": {8: GroupMemory()}}])
    def test_what_makes_no_sense_is_refused(self, wrong: dict[str, Any]) -> None:
        with pytest.raises(ValueError, match=r"alpha 0.0|priorities 0..7"):
            dataclasses.replace(SwitchMemory(), **wrong)


class TestWhereDropsAreCounted:
    def test_a_full_shared_pool_drops_lossy_frames_at_the_ingress(self, star: Lab) -> None:
        lab = star(3, memory=SwitchMemory(total_bytes=150_000))
        lab.udp(1, 3, 8e9)
        lab.udp(2, 3, 8e9)
        lab.run_ms(10)
        drops = [lab.switch.drop_counters(f"p{i}") for i in range(3)]
        assert drops[1].input_buffer_drops > 0 < drops[2].input_buffer_drops
        assert [d.headroom_drops + d.output_buffer_drops + d.wred_drops for d in drops] == [0] * 3
        queue = lab.switch.queue_counters("p0")[3]
        assert queue.dropped_packets == sum(d.input_buffer_drops for d in drops)
        assert queue.tail_dropped_packets == 0
        use = lab.switch.memory_use()
        assert use.peak_used_cells <= use.total_cells
        assert use.shared_cells - 16 < use.shared_used_cells <= use.shared_cells

    def test_a_lossless_group_never_grows_into_what_others_were_promised(self, star: Lab) -> None:
        # static thresholds that are together larger than the pool: headroom begins early
        memory = SwitchMemory(total_bytes=400_000, xoff_cells=1500, headroom_cells=200)
        lab = star(3, memory=memory).without_dcqcn().lossless(3)
        lab.rc(1, 3)
        lab.rc(2, 3)
        lab.run_ms(10)
        use = lab.switch.memory_use()
        assert use.shared_used_cells <= use.shared_cells < 2 * 1500
        assert headroom_drops(lab) == 0
        assert sum(use.peak_headroom_cells.values()) > 0

    def test_watermarks_are_the_most_that_ever_was(self, star: Lab) -> None:
        lab = star(3).without_dcqcn().lossless(3)
        lab.switch.set_wred("p0", 0, WredCurve(low_limit=50, high_limit=60))
        flows = [lab.rc(1, 3, messages=4), lab.rc(2, 3, messages=4), lab.udp(1, 0, 9e9)]
        seen_total, seen_group = 0, 0
        for _ in range(200):
            lab.run_ms(0.005)
            seen_total = max(seen_total, lab.switch.memory_use().used_cells)
            seen_group = max(seen_group, lab.switch.group_counters("p1")[3].shared_used_cells)
        flows[2].stop()
        lab.run_ms(20)
        use, group = lab.switch.memory_use(), lab.switch.group_counters("p1")[3]
        assert use.used_cells == 0 < seen_total <= use.peak_used_cells < use.total_cells
        assert group.shared_used_cells == 0 < seen_group <= group.peak_shared_cells

    def test_peaks_are_forgotten_down_to_what_is_held(self, star: Lab) -> None:
        lab = star(3).without_dcqcn().lossless(3)
        lab.rc(1, 3, messages=4), lab.rc(2, 3, messages=4)
        lab.run_ms(20)
        switch = lab.switch
        assert switch.memory_use().peak_shared_cells > 0
        switch.forget_peaks()
        use = switch.memory_use()
        assert (use.peak_used_cells, use.peak_shared_cells, use.used_cells) == (0, 0, 0)
        groups = [group for port in switch.ports for group in switch.group_counters(port)]
        assert {(g.peak_shared_cells, g.peak_headroom_cells) for g in groups} == {(0, 0)}
        assert {q.peak_cells for port in switch.ports for q in switch.queue_counters(port)} == {0}
        lab.rc(1, 3), lab.rc(2, 3)
        lab.run_ms(0.2)
        held = switch.memory_use()
        switch.forget_peaks()
        again = switch.memory_use()
        assert again.peak_shared_cells == held.shared_used_cells > 0
        assert again.peak_used_cells == held.used_cells

    def test_a_pause_ends_at_xon_where_that_is_more_than_the_offset_leaves(self, star: Lab) -> None:
        def pauses(xon_cells: int) -> int:
            own = GroupMemory(xoff_cells=300, xon_offset_cells=300, xon_cells=xon_cells)
            lab = star(3, memory=SwitchMemory(priorities={3: own})).without_dcqcn().lossless(3)
            lab.rc(1, 3), lab.rc(2, 3)
            lab.run_ms(10)
            return lab.switch.pfc_counters("p1")[3].tx_frames

        assert pauses(250) > 2 * pauses(0) > 0
