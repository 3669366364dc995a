"""Names that refer to nothing, or twice to what can be used once."""

from collections.abc import Callable
from pathlib import Path

import pytest

from labtests.core.errors import InventoryError
from labtests.inventory import load, platforms
from labtests.inventory.platforms import known_platforms

Expect = Callable[..., None]


def test_a_link_to_a_port_that_does_not_exist_names_the_nearest(expect: Expect) -> None:
    expect(
        {'["B:eth0", "S:P2"]': '[§"B:eth00", "S:P2"]', "senders: [A, B]": "senders: [A]"},
        'links[1].between[0]: B has no port "eth00": did you mean eth0?',
    )


def test_a_link_to_a_device_that_does_not_exist_names_the_nearest(expect: Expect) -> None:
    expect(
        {'["B:eth0", "S:P2"]': '["B:eth0", §"SS:P2"]'},
        'links[1].between[1]: unknown device "SS": did you mean S?',
    )


def test_a_port_linked_twice_is_refused(expect: Expect) -> None:
    expect(
        {'["B:eth0", "S:P2"]': '["B:eth0", §"S:P1"]'},
        "links[1].between[1]: port S:P1 is linked twice (first in line 11)",
    )


def test_a_port_linked_twice_under_its_devices_bare_name_is_refused(expect: Expect) -> None:
    expect(
        {'["B:eth0", "S:P2"]': '["B:eth0", §A]'},
        "links[1].between[1]: port A:eth0 is linked twice (first in line 11)",
    )


def test_a_port_linked_with_itself_is_refused(expect: Expect) -> None:
    expect(
        {'["B:eth0", "S:P2"]': '["B:eth0", §"B:eth0"]'},
        "links[1].between[1]: a link needs two different ports, this is B:eth0 twice",
    )


def test_an_address_used_twice_is_refused_whatever_its_prefix(expect: Expect) -> None:
    expect(
        {"address: 10.0.0.2/24": "address: §10.0.0.1/16"},
        "devices.B.ports.eth0.address: address 10.0.0.1 is used twice (first in line 6)",
    )


def test_a_management_address_used_twice_is_refused(expect: Expect) -> None:
    expect(
        {"management: {host: s}": "management: {host: §A, port: 22}"},
        'devices.S.management.host: management address "A" port 22 is used twice (first in line 6)',
    )


def test_one_management_host_with_several_ports_is_fine(
    loaded: Callable[[str], object], valid: str
) -> None:
    loaded(valid.replace("management: {host: s}", "management: {host: a, port: 2222}"))


def test_one_rdma_device_cannot_be_behind_two_ports_of_a_host(expect: Expect) -> None:
    expect(
        {"{address: 10.0.0.3/24}, eth1: ": "{address: 10.0.0.3/24, rdma: x}, eth1: {rdma: §x}"},
        'devices.C.ports.eth1.rdma: RDMA device "x" is used twice on one device (first in line 8)',
    )


def test_an_unknown_group_is_refused_and_its_platform_is_not_missed_as_well(
    expect: Expect,
) -> None:
    expect(
        {"B: {groups: [servers]": "B: {groups: [§server]"},
        'devices.B.groups[0]: unknown group "server": did you mean servers?',
    )


def test_a_group_listed_twice_is_refused(expect: Expect) -> None:
    expect(
        {"B: {groups: [servers]": "B: {groups: [servers, §servers]"},
        'devices.B.groups[1]: group "servers" is listed twice (first in line 7)',
    )


def test_a_device_without_platform_is_refused_at_its_name(expect: Expect) -> None:
    expect(
        {"  B: {groups: [servers], ": "  §B: {"},
        "devices.B: no platform: write `platform:` here, in one of its groups or in defaults "
        "(known: comware, connectx)",
    )


def test_a_platform_without_driver_file_is_refused_where_it_is_written(expect: Expect) -> None:
    expect(
        {"platform: comware": "platform: §nxos"},
        'devices.S.platform: unknown platform "nxos": known: comware, connectx; a new one is the '
        "file labtests/drivers/nxos.py",
    )


def test_a_groups_wrong_platform_is_reported_once_not_per_device(expect: Expect) -> None:
    expect(
        {"{platform: connectx}": "{platform: §connectX}"},
        'groups.servers.platform: unknown platform "connectX": did you mean connectx?; a new one '
        "is the file labtests/drivers/connectX.py",
    )


# -- roles -------------------------------------------------------------------------------------


def test_a_role_naming_an_unknown_device_is_refused(expect: Expect) -> None:
    expect(
        {"senders: [A, B]": "senders: [A, §Bee]"},
        'roles.senders[1]: unknown device "Bee": known: A, B, C, S',
    )


def test_a_role_naming_an_ambiguous_bare_device_is_refused(expect: Expect) -> None:
    expect(
        {'receiver: "C:eth0"': "receiver: §C"},
        "roles.receiver: C alone is not clear, it has 2 ports (eth0, eth1): write C:interface",
    )


def test_several_receivers_are_refused(expect: Expect) -> None:
    expect(
        {"senders: [A, B]": "senders: [A]", 'receiver: "C:eth0"': 'receiver: §["C:eth0", B]'},
        "roles.receiver: there must be exactly one receiver, not 2",
    )


def test_a_port_that_sends_and_receives_is_refused(expect: Expect) -> None:
    expect(
        {'receiver: "C:eth0"': "receiver: §A"},
        "roles.receiver: port A:eth0 is given a role twice (first in line 14)",
    )


def test_a_sender_listed_twice_is_refused(expect: Expect) -> None:
    expect(
        {"senders: [A, B]": 'senders: [A, B, §"A:eth0"]'},
        "roles.senders[2]: port A:eth0 is given a role twice (first in line 14)",
    )


def test_a_receiver_without_link_is_refused(expect: Expect) -> None:
    expect(
        {
            'receiver: "C:eth0"': 'receiver: §"C:eth1"',
            "eth1: }": "eth1: {address: 10.0.0.9/24}}",
        },
        "roles.receiver: port C:eth1 is to carry traffic but has no link",
    )


def test_a_sender_without_address_is_refused(expect: Expect) -> None:
    expect(
        {"{address: 10.0.0.2/24}": "{}", "senders: [A, B]": "senders: [A, §B]"},
        "roles.senders[1]: port B:eth0 is to carry traffic but has no address",
    )


def test_another_role_may_name_any_port(loaded: Callable[[str], object], valid: str) -> None:
    loaded(valid.replace("senders: [A, B]", 'senders: [A, B], spare: ["C:eth1", A]'))


# -- VLANs -------------------------------------------------------------------------------------

ON_VLAN = {
    f"address: 10.0.0.{n}/24": f"address: 10.0.0.{n}/24, vlan: {{id: 100}}" for n in (1, 2, 3)
}


def test_a_vlan_interface_without_address_is_refused(expect: Expect) -> None:
    expect(
        {"eth1: }": "eth1: {vlan: §{id: 100}}}"},
        "devices.C.ports.eth1.vlan: a VLAN interface without `address` on it",
    )


def test_a_name_that_linux_does_not_take_has_to_be_given(
    mistakes: Expect, loaded: Expect, valid: str
) -> None:
    far = valid.replace("eth1: }", "enp129s0f0np0: {address: 10.0.0.9/24, vlan: {id: 100}}}")
    (said,) = mistakes(far)  # type: ignore[func-returns-value]
    assert "enp129s0f0np0.vlan: enp129s0f0np0.100 is too long for an interface of Linux" in said
    named = loaded(far.replace("id: 100", "id: 100, name: vlan100"))  # type: ignore[func-returns-value]
    assert named.device("C").ports[1].vlan.interface("enp129s0f0np0") == "vlan100"


def test_a_receiver_on_another_vlan_than_the_senders_is_refused(expect: Expect) -> None:
    expect(
        {
            **ON_VLAN,
            "address: 10.0.0.3/24": "address: 10.0.0.3/24, vlan: {id: 101}",
            '"C:eth0"}': '§"C:eth0"}',
        },
        "roles.receiver: port C:eth0 is on VLAN 101, and A:eth0 on VLAN 100: they do not reach "
        "each other",
    )


def test_a_sender_without_a_vlan_beside_one_that_has_it_is_refused(expect: Expect) -> None:
    expect(
        {
            "address: 10.0.0.1/24": "address: 10.0.0.1/24, vlan: {id: 100}",
            "address: 10.0.0.3/24": "address: 10.0.0.3/24, vlan: {id: 100}",
            "[A, B], receiver": "[A, §B], receiver",
        },
        "roles.senders[1]: port B:eth0 is on no VLAN, and A:eth0 on VLAN 100: they do not reach "
        "each other",
    )


@pytest.mark.parametrize("number", [0, 4095])
def test_a_vlan_that_there_cannot_be_is_refused(mistakes: Expect, valid: str, number: int) -> None:
    text = valid.replace("10.0.0.3/24", f"10.0.0.3/24, vlan: {{id: {number}}}")
    assert any("devices.C.ports.eth0.vlan.id: " in line for line in mistakes(text))


@pytest.mark.parametrize("egress", ["{16: 5}", "{4: 8}", "{-1: 5}", "{x: 5}", "5"])
def test_an_egress_map_is_802_1p_by_socket_priority(
    mistakes: Expect, valid: str, egress: str
) -> None:
    text = valid.replace("10.0.0.3/24", f"10.0.0.3/24, vlan: {{id: 100, egress: {egress}}}")
    assert any("devices.C.ports.eth0.vlan.egress" in line for line in mistakes(text))


# -- platforms ---------------------------------------------------------------------------------


def test_the_platforms_are_the_driver_files_that_say_how_to_talk_to_their_devices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platforms, "DRIVERS", tmp_path)
    (tmp_path / "__init__.py").write_text("SESSION")
    (tmp_path / "nxos.py").write_text('SESSION = "cisco_nxos"')
    (tmp_path / "tables.py").write_text("a part of a driver")
    (tmp_path / "sonic").mkdir()
    (tmp_path / "sonic" / "__init__.py").write_text("from x import SESSION, Driver")
    (tmp_path / "empty").mkdir()

    assert known_platforms() == {"nxos", "sonic"}


def test_the_drivers_that_labtests_has_are_known() -> None:
    assert {"connectx", "comware"} <= known_platforms()


def test_a_testbed_is_checked_against_those_drivers_unless_told_otherwise(
    tmp_path: Path, valid: str
) -> None:
    file = tmp_path / "lab.yaml"
    file.write_text(valid.replace("platform: comware", "platform: ios"))

    with pytest.raises(InventoryError, match='unknown platform "ios"'):
        load(file)
