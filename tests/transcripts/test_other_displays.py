"""What one display prints is refused, or says nothing, where another one was asked for: a recording
is given to all parsers of its platform."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "sonic"))
sys.path.insert(0, str(Path(__file__).parents[1] / "cumulus"))
sys.path.insert(0, str(Path(__file__).parents[1] / "onyx"))

import cumulus_recordings as cumulus
import onyx_recordings as onyx
import sonic_recordings as sonic
from platform_recordings import PlatformRecordings

from labtests.core.errors import DeviceError

PLATFORMS = (sonic.ALL, cumulus.ALL, onyx.ALL)
BOTH = {"counters.with-vlans", "interface.with-vlans"}
"""An old Onyx tells links and what they count in one display."""


def with_others() -> Iterator[Any]:
    for platform in PLATFORMS:
        for path in platform.recordings:
            if path.stem not in BOTH:
                yield pytest.param(platform, path, id=f"{platform.folder.name}-{path.stem}")


@pytest.mark.parametrize(("platform", "recording"), list(with_others()))
def test_what_was_not_asked_for_is_not_read(platform: PlatformRecordings, recording: Path):
    reply, own = platform.load(recording), platform.parser_of(recording)
    for name, parse in platform.parsers.items():
        try:
            read = parse(reply)
        except DeviceError:
            continue
        assert parse is own or not read, f"read as {name}: {read}"
