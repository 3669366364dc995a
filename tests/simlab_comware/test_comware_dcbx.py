"""DCBX of a Comware port: made, read back, put back; and told to a peer that takes it or not."""

from dataclasses import replace

import pytest

from labtests.capabilities.facts import DcbxTold
from labtests.capabilities.records import DcbxSetting, PfcSetting, TrustSetting
from labtests.inventory import Endpoint
from labtests.simlab.dcbx import DcbxTlvs

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


# -- what peers make of it -------------------------------------------------------------------------

S = 1_000_000_000
PEER = Endpoint(device="A", interface="eth0")
WILLING = DcbxTlvs(
    pfc=frozenset(), class_of_priority=tuple(range(8)), percent=(None,) * 8, willing=True
)
LOSSLESS_3 = PfcSetting(mode="auto", priorities=frozenset({3}))


@pytest.fixture
def telling(driver, simulation):
    """The port tells PFC on 3, in mode auto."""
    driver.set_trust(PORT, TrustSetting(source="dscp"))
    driver.set_pfc(PORT, LOSSLESS_3)
    driver.set_dcbx(PORT, DcbxSetting(tells=True))
    simulation.advance(2 * S)
    return simulation


def test_nothing_is_asked_of_a_port_that_does_not_tell(driver):
    state = driver.dcbx_state(PORT)
    assert (state.control, state.willing, state.told, state.heard) == ("switch", False, None, None)
    assert state.in_force == frozenset()
    assert "lldp tlv-enable dot1-tlv dcbx" in state.unknown


def test_a_port_tells_its_no_drop_priorities_and_hears_nobody(telling, driver):
    state = driver.dcbx_state(PORT)
    assert state.told == DcbxTold(version="standard", pfc=frozenset({3}))
    assert (state.heard, state.in_force, state.unknown) == (None, frozenset(), "")


def test_auto_works_where_the_peer_has_pfc_for_one_of_them(telling, driver, switch):
    telling.dcbx.tell(PEER, replace(WILLING, pfc=frozenset({3, 5})))
    telling.advance(2 * S)
    state = driver.dcbx_state(PORT)
    assert state.heard == DcbxTold(version="standard", pfc=frozenset({3, 5}))
    assert state.in_force == {3}
    assert switch.network.pfc_working(PORT) == {3}
    telling.dcbx.tell(PEER, replace(WILLING, pfc=frozenset({5})))
    telling.advance(2 * S)
    assert switch.network.pfc_working(PORT) == frozenset()


@pytest.mark.parametrize(
    ("own", "peer", "spoken"),
    [
        ("auto", ("standard", "rev101"), "standard"),
        ("auto", ("rev101",), "rev101"),
        ("rev101", ("standard", "rev101"), "rev101"),
        ("rev101", ("standard",), None),
        ("rev100", ("standard", "rev101"), None),
    ],
)
def test_ends_whose_versions_differ_hear_nothing_of_each_other(telling, bench, own, peer, spoken):
    if own != "auto":
        bench.type(f"interface {PORT}", f"dcbx version {own}")
    telling.dcbx.tell(PEER, replace(WILLING, pfc=frozenset({3}), versions=peer))
    telling.advance(2 * S)
    switch = bench.switch
    version, heard = switch.dcbx_heard(PORT)
    assert version == spoken
    assert (heard is None) == (spoken is None)
    assert switch.network.pfc_working(PORT) == (frozenset({3}) if spoken else frozenset())


def test_who_is_unplugged_is_forgotten_and_heard_again(telling, driver, simulation):
    telling.dcbx.tell(PEER, replace(WILLING, pfc=frozenset({3})))
    telling.advance(2 * S)
    simulation.set_link(PEER, up=False)
    telling.advance(1)
    assert driver.dcbx_state(PORT).heard is None
    simulation.set_link(PEER, up=True)
    telling.advance(2 * S)
    assert driver.dcbx_state(PORT).heard is not None


def test_shares_of_queues_are_told_as_percent(telling, bench, simulation):
    bench.type(
        f"interface {PORT}",
        "qos wrr weight",
        "qos wrr af3 group sp",
        "qos wrr af4 group 1 weight 8",
    )
    simulation.advance(2 * S)
    told = simulation.dcbx._heard[PEER]
    assert told.percent == (8, 7, 7, None, 57, 7, 7, 7)
    assert sum(share or 0 for share in told.percent) == 100
