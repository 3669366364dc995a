"""The suites of this repository, by the short names that faults use."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultedSuite:
    """One test. `at`: how the progress begins when the traffic that it judges starts; `middle_s`:
    so many seconds later everybody sends; `more`: what pytest is asked, beside it; `needs`: the
    role (places.py) without which a lab skips it."""

    file: str
    test: str
    at: str = "experiment *: traffic"
    middle_s: float = 0.3
    more: tuple[str, ...] = ()
    needs: str = ""

    @property
    def node(self) -> str:
        """As pytest takes it, below the folder of the suites."""
        return f"{self.file}.py::{self.test}"


SUITES: Mapping[str, FaultedSuite] = {
    "below": FaultedSuite(
        file="test_below_bottleneck", test="test_nothing_is_lost_below_the_bottleneck"
    ),
    "classes": FaultedSuite(
        file="test_classification",
        test="test_each_dscp_gets_the_queue_that_the_map_says",
        at="experiment 'round 1 of",
        middle_s=0.0,
    ),
    "edge": FaultedSuite(
        file="test_edge_classes",
        test="test_only_roce_gets_into_its_queues_at_the_edge",
        at="experiment 'round 1 of",
        middle_s=0.0,
    ),
    "overload": FaultedSuite(
        file="test_overload", test="test_drops_are_in_the_overloaded_queue_only"
    ),
    "socket": FaultedSuite(
        file="test_overload", test="test_a_small_socket_loses_in_the_host_not_in_the_switch"
    ),
    "shares": FaultedSuite(
        file="test_scheduling", test="test_each_queue_gets_the_share_that_the_scheduler_owes_it"
    ),
    "limit": FaultedSuite(
        file="test_limited_queue",
        test="test_a_strict_queue_that_is_held_to_a_rate_starves_nobody",
        at="experiment 'queue 5 is strict, at most 40%': traffic",
    ),
    "cnps": FaultedSuite(
        file="test_limited_queue",
        test="test_the_class_of_cnps_passes_a_full_port_although_it_is_held_to_a_rate",
        at="experiment '150 % of line rate': traffic",
    ),
    "weights": FaultedSuite(file="test_scheduling", test="test_weights_hold_beside_a_strict_queue"),
    "tcp": FaultedSuite(file="test_tcp_ecn", test="test_a_tcp_incast_is_marked_instead_of_dropped"),
    "s1": FaultedSuite(
        file="test_s1_pfc", test="test_pfc_holds_a_udp_incast_without_loss", middle_s=3.0
    ),
    "s2": FaultedSuite(
        file="test_s2_dcqcn", test="test_dcqcn_slows_an_rdma_incast_without_loss", middle_s=3.0
    ),
    "s3": FaultedSuite(
        file="test_s3_reaction_point",
        test="test_a_sender_without_reaction_point_drops_in_its_own_queue_only",
        middle_s=3.0,
    ),
    "np": FaultedSuite(
        file="test_dcqcn_points",
        test="test_cnps_are_as_far_apart_as_the_receiver_says",
        at="experiment 'a CNP each 4000 us': traffic",
    ),
    "recovery": FaultedSuite(
        file="test_dcqcn_points", test="test_a_sender_speeds_up_again_when_marks_cease"
    ),
    "slower-rp": FaultedSuite(
        file="test_dcqcn_points",
        test="test_a_sender_that_speeds_up_more_slowly_gets_less",
        at="experiment 'one of them slower': traffic",
    ),
    "alpha": FaultedSuite(
        file="test_dcqcn_points",
        test="test_a_rate_after_cnps_is_what_the_rule_of_alpha_leaves",
        at="experiment 'alpha is 1 at each CNP': traffic",
    ),
    "s19": FaultedSuite(
        file="test_priority_tags",
        test="test_tagged_packets_cross_two_switches_without_loss",
        middle_s=1.0,
    ),
    "warning": FaultedSuite(
        file="test_early_warning",
        test="test_a_switch_warns_before_it_loses",
        at="experiment 'early warning': traffic",
        middle_s=3.0,
    ),
    "host-warning": FaultedSuite(
        file="test_early_warning",
        test="test_a_switch_warns_of_a_host_that_pauses_it",
        at="experiment 'storms, early warning': traffic",
    ),
    "dcbx": FaultedSuite(
        file="test_dcbx",
        test="test_willing_hosts_take_over_what_their_switch_tells",
        at="experiment 'the switch tells theirs': traffic",
        middle_s=3.0,
    ),
    "thresholds": FaultedSuite(
        file="test_thresholds",
        test="test_pauses_begin_at_their_threshold_and_headroom_takes_the_rest",
    ),
    "curve": FaultedSuite(
        file="test_marking_curve",
        test="test_marks_follow_the_curve_while_a_held_queue_fills",
        at="experiment 'a step': traffic",
    ),
    "outside": FaultedSuite(
        file="test_threshold_from_outside",
        test="test_a_port_pauses_at_its_threshold_counted_from_outside",
        at="experiment 'little by little': traffic",
    ),
    "both": FaultedSuite(
        file="test_pfc_and_dcqcn",
        test="test_marks_hold_an_rdma_incast_before_pauses_have_to",
        at="experiment 'PFC and DCQCN': traffic",
        middle_s=2.0,
    ),
    "writes": FaultedSuite(file="test_verbs", test="test_pfc_holds_an_incast_of_writes"),
    "reads": FaultedSuite(file="test_verbs", test="test_pfc_holds_an_incast_of_reads"),
    "any-to-any": FaultedSuite(
        file="test_verbs",
        test="test_every_host_writes_to_every_other_one",
        at="experiment 'PFC on, all to all': traffic",
    ),
    "victim": FaultedSuite(
        file="test_victim_flow",
        test="test_dcqcn_spares_the_flow_past_the_congestion",
        at="experiment 'PFC and DCQCN': traffic",
    ),
    "marking": FaultedSuite(
        file="test_marking",
        test="test_marks_begin_with_a_long_queue_and_with_ecn_capable_packets",
    ),
    "slow-receiver": FaultedSuite(
        file="test_pauses_of_a_host",
        test="test_a_slow_receiver_holds_its_senders_and_is_named",
    ),
    "mixed": FaultedSuite(
        file="test_mixed_classes",
        test="test_a_lossy_class_takes_no_memory_from_a_lossless_one",
    ),
    "soak": FaultedSuite(
        file="test_soak",
        test="test_hours_of_load_lose_nothing_in_any_minute",
        middle_s=5.0,
        more=("--soak", "10s"),
    ),
    "deaf": FaultedSuite(
        file="test_deaf_senders",
        test="test_a_queue_of_its_own_keeps_a_sender_from_starving",
    ),
    "strict": FaultedSuite(
        file="test_latency",
        test="test_a_strict_class_passes_a_full_port",
        at="experiment '150 % of line rate': traffic",
    ),
    "lossy-pauses": FaultedSuite(
        file="test_pauses_of_a_host", test="test_pauses_of_a_lossy_class_stop_nothing"
    ),
    "odd-pauses": FaultedSuite(
        file="test_pauses_of_a_host",
        test="test_pauses_of_the_whole_link_and_of_no_class_stop_nothing",
        at="experiment 'for no class': traffic",
    ),
    "nameless-pauses": FaultedSuite(
        file="test_pauses_of_a_host",
        test="test_pauses_without_a_source_address_hold_like_others",
    ),
    "watchdog": FaultedSuite(
        file="test_pfc_watchdog",
        test="test_the_watchdog_shuts_a_queue_that_is_paused_without_end",
    ),
    "timeout": FaultedSuite(
        file="test_pause_timeout",
        test="test_the_pause_timeout_drops_all_that_leaves_a_port_that_is_paused_for_too_long",
    ),
    "deadlock": FaultedSuite(
        file="test_deadlock_detection",
        test="test_a_deadlock_is_detected_and_released",
        at="experiment 'detection, recovery by hand': traffic",
    ),
    "escape": FaultedSuite(
        file="test_pfc_escape", test="test_pfc_off_everywhere_sets_a_locked_ring_free"
    ),
    "scale": FaultedSuite(
        file="test_scale", test="test_many_transfers_to_one_host_end_in_their_time"
    ),
    "paths": FaultedSuite(
        file="test_paths", test="test_flows_take_all_equally_short_ways", needs="ways"
    ),
    "link-failure": FaultedSuite(
        file="test_link_failure",
        test="test_a_lossless_class_goes_on_when_a_link_fails",
        at="experiment 'one way fails': traffic",
        middle_s=1.0,
        needs="ways",
    ),
    "go-back-n": FaultedSuite(file="test_go_back_n", test="test_a_sender_repeats_what_is_lost"),
    "tunnel-classes": FaultedSuite(
        file="test_tunnels",
        test="test_the_class_of_a_packet_survives_its_tunnel",
    ),
    "tunnel-marks": FaultedSuite(file="test_tunnels", test="test_marks_survive_their_tunnel"),
    "roce-mode": FaultedSuite(
        file="test_roce_mode", test="test_roce_mode_is_lossless_where_it_says_so", middle_s=1.0
    ),
    "rdma-ecn": FaultedSuite(
        file="test_rdma_ecn",
        test="test_an_rdma_incast_is_marked_where_it_is_ecn_capable",
    ),
}
"""In the order in which a matrix shows them."""
