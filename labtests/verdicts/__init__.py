"""Evidence in, verdict out. Pure: no device, no clock, no file.

A verdict is pass, fail, inconclusive or error. "Lossless" is a difference of exactly 0, in
integers, from proven counters, under proven congestion. Missing evidence is inconclusive.
"""

from labtests.verdicts.classes import classified, undisturbed
from labtests.verdicts.control import right_control, wrong_control
from labtests.verdicts.cycles import set_free, sound_in_a_cycle, went_on
from labtests.verdicts.ecn import marked_not_dropped
from labtests.verdicts.full import full_and_marked
from labtests.verdicts.loads import drops_exactly_in, every_packet, lost_at_the_socket, no_loss
from labtests.verdicts.outcome import Fact, Finding, Outcome, Verdict, reddest, worst
from labtests.verdicts.path import Station, stations
from labtests.verdicts.questions import (
    drops_as_expected,
    lossless,
    paused,
    slowed_by_marks,
    throttled,
)
from labtests.verdicts.sharing import shared
from labtests.verdicts.sound import out_of_balance, sound
from labtests.verdicts.storms import left_alone, shut_in_time
from labtests.verdicts.warnings import Thresholds, silent, warned

__all__ = [
    "Fact",
    "Finding",
    "Outcome",
    "Station",
    "Thresholds",
    "Verdict",
    "classified",
    "drops_as_expected",
    "drops_exactly_in",
    "every_packet",
    "full_and_marked",
    "left_alone",
    "lossless",
    "lost_at_the_socket",
    "marked_not_dropped",
    "no_loss",
    "out_of_balance",
    "paused",
    "reddest",
    "right_control",
    "set_free",
    "shared",
    "shut_in_time",
    "silent",
    "slowed_by_marks",
    "sound",
    "sound_in_a_cycle",
    "stations",
    "throttled",
    "undisturbed",
    "warned",
    "went_on",
    "worst",
    "wrong_control",
]
