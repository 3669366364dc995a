"""PFC of a switch that has no mode of a port, or whose lossless priorities are the same at each.

Those follow the ports whose mode is on: one that is told to be off, and of no priorities, leaves
them as they are while another is on. One that names priorities has them, whatever its mode is: what
was read of a port before it was switched on is what the whole switch had, and comes back with it.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from labtests.capabilities.records import PfcSetting
from labtests.capabilities.settings import PFC, Setting
from labtests.drivers.parts import PlatformPart


def left_alone(setting: PfcSetting, now: frozenset[int], *, shared: bool) -> PfcSetting:
    """The setting of a port, with the priorities of now where they are another port's business."""
    told = setting.mode == "on" or setting.priorities
    return replace(setting, priorities=now) if shared and not told else setting


def lossless(setting: PfcSetting) -> frozenset[int]:
    """The priorities that pause: none where the port is off."""
    return frozenset() if setting.mode == "off" else setting.priorities


def obeys_all(setting: PfcSetting) -> bool:
    """Whether pauses of all priorities hold the port."""
    return setting.asymmetric == "on"


def expect_mode(part: PlatformPart, where: str, wanted: PfcSetting, who: str) -> None:
    """On or off, where nothing is negotiated. Raises CommandRejected."""
    if wanted.mode == "auto":
        raise part.reject(where, f"{who} negotiates no PFC", 'use the mode "on" or "off"')


class PausesByPriority(Setting[PfcSetting]):
    """There is no mode: a port without priorities is off, and one that is off has none."""

    kind = PFC

    def same(self, one: PfcSetting, other: PfcSetting) -> bool:
        """What is sent, by priority, and whether all is obeyed."""
        return lossless(one) == lossless(other) and obeys_all(one) == obeys_all(other)


class AsymmetricPauses(PausesByPriority):
    """A port can obey all pauses, whatever it sends."""

    def obeying_all(self, setting: PfcSetting) -> PfcSetting:
        """See AsymmetricPfc."""
        return replace(setting, asymmetric="on")


class SharedPriorities(Setting[PfcSetting]):
    """The mode of a port, with priorities that other ports of labtests' may have changed. What is
    around says whether they are `shared`."""

    def wrong(self, wanted: PfcSetting, found: PfcSetting, before: Any, after: Any) -> str:
        """Priorities that were left alone are not wrong."""
        alone = left_alone(wanted, found.priorities, shared=after.shared)
        return super().wrong(alone, found, before, after)

    def is_foreign(self, now: PfcSetting, ours: Sequence[PfcSetting], around: Any) -> bool:
        """Priorities may be another port's: any where the port is not on, and of one that is, those
        that were there before: another port that was put back has brought them back."""
        known = {each.priorities for each in ours}
        ours_alike = now.mode in {each.mode for each in ours}
        if ours_alike and (now.mode != "on" or now.priorities in known):
            return False
        return super().is_foreign(now, ours, around)
