"""Faults of a command meet it, whatever stands around it."""

from shlex import quote

import pytest

from labtests.simlab.faults import DeviceFaults

TYPED = "sonic-db-cli CONFIG_DB DEL 'BUFFER_PG|Ethernet0|3'"
BY_ROOT = f"sudo -n sh -c {quote(TYPED)}"


@pytest.mark.parametrize("sent", [TYPED, BY_ROOT, f"cd /; sh -c {quote(BY_ROOT)}"])
def test_a_command_is_met_however_shells_around_it_have_quoted_it(sent: str) -> None:
    faults = DeviceFaults(hanging_commands={TYPED})
    assert faults.hangs(sent)
    assert not faults.hangs(sent.replace("|3", "|4"))
