"""PFC of a switch whose lossless priorities are the same at every port.

They follow the ports whose mode is on: one that is not leaves them as they are while another is.
"""

from dataclasses import replace

from labtests.capabilities.records import PfcSetting


def left_alone(setting: PfcSetting, now: frozenset[int], *, shared: bool) -> PfcSetting:
    """The setting of a port, with the priorities of now where they are another port's business."""
    return replace(setting, priorities=now) if shared and setting.mode != "on" else setting
