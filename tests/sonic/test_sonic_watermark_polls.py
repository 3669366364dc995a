"""How often SONiC polls its watermarks: read, changed and put back; nothing of one that is off."""

import pytest

from labtests.core.errors import CommandRejected
from labtests.drivers.sonic.database import Db
from labtests.drivers.sonic.watermarks import SonicWatermarkPolls

GROUPS = ("BUFFER_POOL_WATERMARK", "PG_WATERMARK", "QUEUE_WATERMARK")
ON = {"FLEX_COUNTER_STATUS": "enable"}
POLLS = SonicWatermarkPolls("sw")


def tables(**intervals: str) -> Db:
    return Db(
        {
            "FLEX_COUNTER_TABLE": {
                name: ON | ({"POLL_INTERVAL": intervals[name]} if name in intervals else {})
                for name in GROUPS
            }
        }
    )


def every(ms: int):
    return tuple((name, ms) for name in GROUPS)


def typed(db: Db, earlier, wanted):
    return [str(each).partition("CONFIG_DB ")[2] for each in
            POLLS.commands("", earlier, wanted, db)]  # fmt: skip


def test_a_group_that_has_none_is_polled_in_the_usual_time():
    mixed = POLLS.value(tables(PG_WATERMARK="10000"), "")
    assert mixed == (
        ("BUFFER_POOL_WATERMARK", 60_000), ("PG_WATERMARK", 10_000), ("QUEUE_WATERMARK", 60_000)
    )  # fmt: skip


def test_each_goes_to_a_second_and_back_to_what_it_was():
    before = tables(PG_WATERMARK="10000")
    earlier = POLLS.value(before, "")
    assert typed(before, earlier, every(1000)) == [
        f"HSET 'FLEX_COUNTER_TABLE|{name}' POLL_INTERVAL 1000" for name in GROUPS
    ]
    after = tables(**dict.fromkeys(GROUPS, "1000"))
    assert typed(after, every(1000), earlier) == [
        f"HSET 'FLEX_COUNTER_TABLE|{name}' POLL_INTERVAL {ms}" for name, ms in earlier
    ]
    assert typed(after, every(1000), every(1000)) == []


@pytest.mark.parametrize("ms", [999, 60_001])
def test_what_counterpoll_does_not_take_is_refused(ms):
    with pytest.raises(CommandRejected, match="ms is not in"):
        POLLS.commands("", every(60_000), every(ms), tables())


def test_of_watermarks_that_are_not_polled_nothing_is_said():
    off = tables().holding("FLEX_COUNTER_TABLE", "PG_WATERMARK", FLEX_COUNTER_STATUS="disable")
    with pytest.raises(CommandRejected, match="PG_WATERMARK is not polled") as refused:
        POLLS.value(off, "")
    assert "counterpoll watermark enable" in refused.value.remedy
