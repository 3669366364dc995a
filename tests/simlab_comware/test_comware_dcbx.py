"""DCBX of a Comware port: made, read back, put back."""

import pytest

from labtests.capabilities.records import DcbxSetting

PORT = "Twenty-FiveGigE1/0/14"
OFF = DcbxSetting(tells=False)
WORKED_EXAMPLE = DcbxSetting(tells=True, version="rev101")
TELLS = "lldp tlv-enable dot1-tlv dcbx"


@pytest.mark.parametrize(
    ("earlier", "wanted", "lines"),
    [
        (OFF, OFF, []),
        (OFF, WORKED_EXAMPLE, ["dcbx version rev101", TELLS]),
        (WORKED_EXAMPLE, OFF, ["undo dcbx version rev101", f"undo {TELLS}"]),
        (
            WORKED_EXAMPLE,
            DcbxSetting(tells=True, version="standard"),
            ["dcbx version standard"],
        ),
        (DcbxSetting(tells=True), OFF, [f"undo {TELLS}"]),
    ],
)
def test_dcbx_is_made_read_back_and_put_back(bench, driver, earlier, wanted, lines):
    driver.set_dcbx(PORT, earlier)
    text = bench.shown()
    assert list(driver.dcbx_commands(PORT, earlier, wanted))[1:-1] == lines
    driver.set_dcbx(PORT, wanted)
    assert driver.dcbx(PORT) == wanted
    driver.set_dcbx(PORT, earlier)
    assert driver.dcbx(PORT) == earlier
    assert bench.shown() == text
