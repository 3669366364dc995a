"""Evidence in, verdict out. Pure: no device, no clock, no file.

A verdict is pass, fail, inconclusive or error. "Lossless" is a difference of exactly 0, in
integers, from proven counters, under proven congestion. Missing evidence is inconclusive.
"""

from labtests.verdicts.alpha import AlphaRule, follows_alpha
from labtests.verdicts.among import all_paused, nothing_lost, out_of_balance, sound_among
from labtests.verdicts.bursts import Burst, bursts
from labtests.verdicts.classes import classified, in_their_queues, undisturbed
from labtests.verdicts.completing import completed_alike
from labtests.verdicts.control import right_control, wrong_control
from labtests.verdicts.curves import curve_over, marks_by_curve
from labtests.verdicts.cycles import set_free, sound_in_a_cycle, went_on
from labtests.verdicts.dcbx import agreed_by_dcbx
from labtests.verdicts.ecn import marked_not_dropped
from labtests.verdicts.failing import healed, ran_on
from labtests.verdicts.filled import behind_bytes, pauses_at, took_what_came
from labtests.verdicts.full import full_and_marked
from labtests.verdicts.latency import passed_at_once
from labtests.verdicts.loads import drops_exactly_in, every_packet, lost_at_the_socket, no_loss
from labtests.verdicts.losses import drops_as_expected, lossless
from labtests.verdicts.marking import unmarked
from labtests.verdicts.marks_first import held_by_cnps, held_by_pauses, marked_before_paused
from labtests.verdicts.memory import Limits, held_within, with_thresholds
from labtests.verdicts.outcome import Fact, Finding, Outcome, Verdict, reddest, worst
from labtests.verdicts.path import Station, stations
from labtests.verdicts.paths import full_speed, spread_over
from labtests.verdicts.pauses import paused
from labtests.verdicts.points import ahead, gets_less, recovered, spaced
from labtests.verdicts.repeating import repeated_what_was_lost
from labtests.verdicts.roce import counted_apart, paused_nobody
from labtests.verdicts.sharing import shared
from labtests.verdicts.slow_hosts import held_by_its_receiver, not_stopped
from labtests.verdicts.slowing import slowed_by_marks
from labtests.verdicts.soak import steady
from labtests.verdicts.sound import sound
from labtests.verdicts.starving import not_starved
from labtests.verdicts.storms import dropped_all, kept_through, left_alone, shut_in_time
from labtests.verdicts.streamed import headrooms, kept_headroom, no_bursts
from labtests.verdicts.throttling import throttled
from labtests.verdicts.tunnels import came_out_marked, kept_its_class
from labtests.verdicts.victims import spared
from labtests.verdicts.warnings import Thresholds, silent, warned

__all__ = [
    "AlphaRule",
    "Burst",
    "Fact",
    "Finding",
    "Limits",
    "Outcome",
    "Station",
    "Thresholds",
    "Verdict",
    "agreed_by_dcbx",
    "ahead",
    "all_paused",
    "behind_bytes",
    "bursts",
    "came_out_marked",
    "classified",
    "completed_alike",
    "counted_apart",
    "curve_over",
    "dropped_all",
    "drops_as_expected",
    "drops_exactly_in",
    "every_packet",
    "follows_alpha",
    "full_and_marked",
    "full_speed",
    "gets_less",
    "headrooms",
    "healed",
    "held_by_cnps",
    "held_by_its_receiver",
    "held_by_pauses",
    "held_within",
    "in_their_queues",
    "kept_headroom",
    "kept_its_class",
    "kept_through",
    "left_alone",
    "lossless",
    "lost_at_the_socket",
    "marked_before_paused",
    "marked_not_dropped",
    "marks_by_curve",
    "no_bursts",
    "no_loss",
    "not_starved",
    "not_stopped",
    "nothing_lost",
    "out_of_balance",
    "passed_at_once",
    "paused",
    "paused_nobody",
    "pauses_at",
    "ran_on",
    "recovered",
    "reddest",
    "repeated_what_was_lost",
    "right_control",
    "set_free",
    "shared",
    "shut_in_time",
    "silent",
    "slowed_by_marks",
    "sound",
    "sound_among",
    "sound_in_a_cycle",
    "spaced",
    "spared",
    "spread_over",
    "stations",
    "steady",
    "throttled",
    "took_what_came",
    "undisturbed",
    "unmarked",
    "warned",
    "went_on",
    "with_thresholds",
    "worst",
    "wrong_control",
]
