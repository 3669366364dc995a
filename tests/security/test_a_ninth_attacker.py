"""What a ninth attacker did: passwords as names in journals and snapshots, counters of more than 64
bits, answers of line ends only."""

from types import SimpleNamespace

import pytest

from labtests.capabilities.records import EcnSetting, PfcSetting, Reading
from labtests.core import output
from labtests.core.errors import LabError, UnreadableOutput
from labtests.core.redaction import Redaction
from labtests.drivers.displays import Unfit
from labtests.drivers.parsing import MOST_LINES, lines
from labtests.drivers.sonic.session import count
from labtests.inventory import Endpoint
from labtests.inventory.testbed import Device, Management
from labtests.journal import Begun, ChangeJournal, Intent, this_runner
from labtests.journal.values import NotStorable, pack_setting
from labtests.measure.telemetry import table
from labtests.pytest_plugin.outcomes import Labels
from labtests.transport.protocol import Reply

PASSWORD = "OpenSesame-77"


@pytest.fixture
def in_use(monkeypatch):
    monkeypatch.setattr(output, "_used", {PASSWORD})


def said(text):
    return Reply(device="sw", command="show", text=text, status=0)


# -- secrets ---------------------------------------------------------------------------------------


@pytest.mark.usefixtures("in_use")
@pytest.mark.parametrize("which", ["earlier", "wanted"])
def test_a_profile_called_like_the_password_is_not_changed_and_not_written_down(which, tmp_path):
    begun = Begun(
        run="r",
        runner=this_runner(),
        testbed="t",
        file="/t",
        backend="hardware",
        dry_run=False,
        devices=(Device(name="sw", platform="sonic", management=Management(host="h")),),
    )
    journal = ChangeJournal.begin(tmp_path / "changes.jsonl", begun, Redaction([PASSWORD]))
    values = {"earlier": EcnSetting(), "wanted": EcnSetting()}
    values[which] = EcnSetting(profile=f"3 {PASSWORD}")
    intent = Intent(
        at=Endpoint(device="sw", interface="Ethernet0"),
        setting="ecn",
        **values,
        commands=(f"x {PASSWORD}",),
        undo=("y",),
    )
    with pytest.raises(LabError, match="sw:Ethernet0: ecn is not changed: a name in it contains"):
        journal.ahead([intent])
    assert journal.pending == []
    assert PASSWORD not in (tmp_path / "changes.jsonl").read_text()


@pytest.mark.usefixtures("in_use")
def test_a_value_is_a_value_where_no_password_is_in_it():
    value = PfcSetting(mode="on", priorities=frozenset({3}))
    assert pack_setting(value)["fields"]["mode"] == "on"
    with pytest.raises(NotStorable, match="contains a password"):
        pack_setting(((f"a{PASSWORD}b", 1),))


# -- numbers ---------------------------------------------------------------------------------------


def reading(value):
    return Reading(
        device="sw",
        port="p",
        scope="port",
        index=None,
        counter="dropped_packets",
        unit="packets",
        value=value,
        time_s=0.0,
        source="show",
    )


@pytest.mark.parametrize("value", [2**64, 10**40, 10**4299, -1])
def test_what_no_counter_can_hold_is_no_number(value):
    told = reading(value)
    assert told.value is None
    assert told.missing == "shows a number that no counter of 64 bits holds"


def test_the_largest_counter_is_exact_in_the_table():
    """Above 2**63 the table raised an OverflowError, which ended the whole session."""
    frame = table([reading(2**64 - 1), reading(None)])
    assert frame["value"][0] == 2**64 - 1
    assert frame["value"].isna().tolist() == [False, True]


def test_a_number_of_commas_has_an_end():
    assert count("1,234") == 1234
    with pytest.raises(Unfit):
        count("1" + ",000" * 1433)


def test_a_test_whose_evidence_cannot_be_written_is_in_the_report_and_the_run_is_red():
    """OverflowError came out of the hook, twice: no report at all, and no further test."""
    run = SimpleNamespace(
        tests=[], problem="", journal=SimpleNamespace(redaction=Redaction(["secret-word"]))
    )
    session = SimpleNamespace(exitstatus=0)
    told = object.__new__(Labels)
    told._run, told._unwritten = run, False

    def fails(item, entry):
        raise OverflowError("int too large of secret-word")

    told._add_evidence = fails
    told._complete(SimpleNamespace(session=session), {"id": "a"})
    assert run.tests == [{"id": "a"}]
    assert session.exitstatus == 1
    assert run.problem == (
        "reports are missing or not whole: OverflowError: int too large of secret-word "
        "(a defect of labtests)"
    )


# -- lines -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_an_answer_of_line_ends_is_refused_before_it_is_parted(end):
    with pytest.raises(UnreadableOutput, match=f"more than {MOST_LINES} lines"):
        lines(said(end * (2 * MOST_LINES + 1)))
    with pytest.raises(UnreadableOutput, match=f"more than {MOST_LINES} lines"):
        lines(said(f"x{end}" * (MOST_LINES + 1)))
    assert len(lines(said(f"x{end}" * MOST_LINES))) == MOST_LINES
