"""Displays whose ruler says what stands in which column: read as declared, else refused."""

import pytest

from labtests.core.errors import UnreadableOutput
from labtests.drivers.displays import read_ruled
from labtests.transport.protocol import Reply

SHOWN = """\
               operational  applied  description
-------------  -----------  -------  ---------------
mode           lossless     lossless  a word
state                       on
limits
  low          1.43 MB               lowest of all
  of a port
    high       7

Queues
======
       queue  frames  said by
    -  -----  ------  -------
    0  3      12      a, b
    1  4      n/a

Exceptions
==========
No Data
"""
LOOKS = {
    "mode=": "lossless",
    "state": "on|off",
    "limits low": r"[0-9.]+ MB",
    "limits of a port high": "[0-9]",
    "limits more?": "[0-9]",
}
ROW = {"": "[0-9]", "queue": "[0-7]", "frames": "[0-9]+|n/a", "said by?": "[a-z, ]*"}


def ruled(text: str = SHOWN):
    return read_ruled(Reply(device="sw", command="show", text=text))


def whole(text: str) -> None:
    shown = ruled(text)
    shown.only("", "Queues", "Exceptions")
    shown.values(LOOKS)
    list(shown.rows("Queues", ROW))


def test_values_are_those_in_operation_else_applied_by_the_names_above_them():
    assert ruled().values(LOOKS) == {
        "mode": "lossless",
        "state": "on",
        "limits low": "1.43 MB",
        "limits of a port high": "7",
    }


def test_rows_are_by_their_heads_and_a_table_may_be_empty():
    shown = ruled()
    shown.only("", "Queues", "Exceptions")
    assert list(shown.rows("Queues", ROW)) == [
        {"": "0", "queue": "3", "frames": "12", "said by": "a, b"},
        {"": "1", "queue": "4", "frames": "n/a", "said by": ""},
    ]
    assert shown.blocks["Exceptions"] == ()


@pytest.mark.parametrize(
    ("told", "instead", "says"),
    [
        ("mode           lossless     lossless", "mode           lossless     lossy", "as applied"),
        ("mode           lossless", "mode                   ", "as applied"),
        (" on\n", " perhaps\n", "state: perhaps"),
        ("  low          1.43 MB", "  low          1.43 KB", "limits low: 1.43 KB"),
        ("  low  ", "      low  ", "stands alone"),
        ("  low          1.43 MB               lowest of all\n", "", "lacks 'limits low'"),
        ("    high       7\n", "", "nothing is under 'of a port'"),
        ("    high       7\n", "    high       7\n    high       7\n", "twice"),
        ("    high       7\n", "    high       7\nlast\n", "nothing is under 'last'"),
        ("state                       on", "state        on", "under its heads"),
        ("operational", "optional", "heads"),
        (
            "-------------  -----------  -------  ---",
            "-------------  -----------  ~~~~~~~  ---",
            "ruler",
        ),
        ("    0  3 ", "    0  8 ", "queue: 8"),
        ("    0  3 ", "    0 33 ", "under its heads"),
        ("n/a", "none", "frames: none"),
        ("  said by", "", "another number of rulers"),
        ("queue  frames", "queue  packet", "packet: 12"),
        ("Exceptions\n", "Queues\n", "the table 'Queues' twice"),
        ("Exceptions\n", "Others\n", "a table 'Others'"),
        ("No Data\n", "No Data\nmore\n", "no ruler"),
        ("No Data\n", "No Data", "has no end"),
        ("Queues\n======\n", "", "under its heads"),
        ("Exceptions\n", "Queues \n", "twice"),
    ],
)
def test_what_is_not_as_declared_is_refused(told: str, instead: str, says: str) -> None:
    assert told in SHOWN
    with pytest.raises(UnreadableOutput) as refused:
        whole(SHOWN.replace(told, instead, 1))
    assert says in refused.value.problem
    assert (refused.value.device, bool(refused.value.remedy)) == ("sw", True)


@pytest.mark.parametrize(
    "text", ["", "\n", "======\n", "one\n", "one\n======\n", "a  b\n-  -  -\n"]
)
def test_an_answer_without_values_is_refused(text: str) -> None:
    with pytest.raises(UnreadableOutput):
        ruled(text).values(LOOKS)
