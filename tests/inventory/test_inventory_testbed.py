"""What a valid testbed file becomes."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from labtests.core.errors import InventoryError, LabError
from labtests.inventory import (
    Device,
    Endpoint,
    Link,
    Management,
    Port,
    Testbed,
    Vlan,
    json_schema,
    load,
)

ROOT = Path(__file__).parents[2]
Loaded = Callable[[str | bytes], Testbed]

PRECEDENCE = """\
name: lab
defaults: {user: from-defaults, port: 1, become: true, jump: d@hop, platform: comware}
groups:
  first: {user: from-first, port: 2, password_env: FIRST}
  second: {user: from-second, port: 3, become: false, key_file: keys/id}
devices:
  own: {groups: [first, second], management: {host: a, user: from-device}}
  grouped: {groups: [second, first], management: {host: b}}
  plain: {management: {host: c, password_env: null, port: 9, jump: null}, platform: connectx}
"""


def end(text: str) -> Endpoint:
    device, _, interface = text.partition(":")
    return Endpoint(device=device, interface=interface)


def test_a_valid_file_becomes_frozen_records(loaded: Loaded, valid: str) -> None:
    lab = loaded(valid)

    assert (lab.name, lab.description, lab.file.name) == ("lab", "", "lab.yaml")
    assert lab.devices[0] == Device(
        name="A",
        platform="connectx",
        management=Management(host="a", user="root"),
        ports=(
            Port(device="A", interface="eth0", rdma="mlx5_0", address="10.0.0.1", prefix_length=24),
        ),
        groups=("servers",),
    )
    assert lab.links[0] == Link(
        a=end("A:eth0"), b=end("S:P1"), speed_bits_per_s=10_000_000_000, length_m=3.0
    )
    assert dict(lab.roles) == {
        "senders": (end("A:eth0"), end("B:eth0")),
        "receiver": (end("C:eth0"),),
    }


def test_an_address_may_be_on_a_vlan_interface(loaded: Loaded, valid: str) -> None:
    text = valid
    for number in (1, 2, 3):
        address = f"10.0.0.{number}/24"
        text = text.replace(address, f"{address}, vlan: {{id: 100, egress: {{4: 5, 0: 0}}}}")
    lab = loaded(text.replace(", egress: {4: 5, 0: 0}", "", 1))
    vlans = [lab.device(name).ports[0].vlan for name in "ABC"]
    assert vlans == [Vlan(id=100), *[Vlan(id=100, egress=((0, 0), (4, 5)))] * 2]
    assert vlans[0] is not None
    assert vlans[0].interface("eth0") == "eth0.100"


def test_the_devices_own_value_wins_then_its_groups_in_order_then_the_defaults(
    loaded: Loaded,
) -> None:
    lab = loaded(PRECEDENCE)
    own, grouped, plain = (device.management for device in lab.devices)

    assert (own.user, own.port, own.become, own.jump, own.password_env) == (
        "from-device",
        2,
        False,
        "d@hop",
        "FIRST",
    )
    assert (grouped.user, grouped.port) == ("from-second", 3)
    assert (plain.user, plain.port, plain.become) == ("from-defaults", 9, True)
    assert [device.platform for device in lab.devices] == ["comware", "comware", "connectx"]


def test_an_empty_value_takes_back_what_a_group_or_the_defaults_say(loaded: Loaded) -> None:
    plain = loaded(PRECEDENCE).device("plain").management

    assert plain.jump is None
    assert plain.password_env is None


def test_relative_key_files_start_at_the_testbeds_folder(loaded: Loaded, tmp_path: Path) -> None:
    assert loaded(PRECEDENCE).device("own").management.key_file == str(tmp_path / "keys/id")


def test_a_key_file_in_the_home_folder_is_found_there(loaded: Loaded) -> None:
    lab = loaded(PRECEDENCE.replace("keys/id", "~/.ssh/lab"))

    assert lab.device("own").management.key_file == str(Path("~/.ssh/lab").expanduser())


def test_an_interface_may_have_a_colon_as_comwares_split_ports_do(
    loaded: Loaded, valid: str
) -> None:
    lab = loaded(valid.replace("P1: {}", '"Hu1/0/1:1": {}').replace('"S:P1"', '"S:Hu1/0/1:1"'))

    assert str(lab.links[0].b) == "S:Hu1/0/1:1"
    assert lab.links[0].b.interface == "Hu1/0/1:1"


@pytest.mark.parametrize(
    "host", ["server-a.lab.example", "10.0.0.1", "fe80::1%eth0", "::1", "alias_of_ssh_config"]
)
def test_hosts_of_every_usual_form_are_accepted(loaded: Loaded, valid: str, host: str) -> None:
    lab = loaded(valid.replace("{host: s}", f'{{host: "{host}"}}'))

    assert lab.device("S").management.host == host


@pytest.mark.parametrize(
    "jump", ["hop", "ops@hop:2222", "a@one,b@two:22", "ops@[fe80::1]:22", "ssh://ops@hop:22"]
)
def test_jump_hosts_are_in_the_syntax_of_openssh(loaded: Loaded, valid: str, jump: str) -> None:
    lab = loaded(valid.replace("{user: root}", f'{{jump: "{jump}"}}'))

    assert lab.device("S").management.jump == jump


# -- asking a testbed --------------------------------------------------------------------------


def test_a_testbed_finds_devices_ports_links_and_peers(loaded: Loaded, valid: str) -> None:
    lab = loaded(valid)

    assert lab.device("S").platform == "comware"
    assert lab.port(end("A:eth0")).rdma == "mlx5_0"
    assert lab.link_of(end("S:P2")) is lab.links[1]
    assert lab.peer(end("S:P2")) == end("B:eth0")
    assert lab.peer(end("B:eth0")) == end("S:P2")
    assert lab.peer(end("C:eth1")) is None
    assert lab.link_of(end("C:eth1")) is None


def test_asking_for_what_is_not_there_names_what_is(loaded: Loaded, valid: str) -> None:
    lab = loaded(valid)

    with pytest.raises(LabError, match="no device 'X'; there are A, B, C, S"):
        lab.device("X")
    with pytest.raises(LabError, match="C has no port 'eth9'; its ports: eth0, eth1"):
        lab.port(end("C:eth9"))


def test_a_rerouted_testbed_differs_in_management_only(loaded: Loaded, valid: str) -> None:
    lab = loaded(valid)
    elsewhere = Management(host="127.0.0.1", port=5022, user="root")

    rerouted = lab.rerouted({"A": elsewhere})

    assert rerouted.device("A").management == elsewhere
    assert rerouted.device("A").ports == lab.device("A").ports
    assert rerouted.device("B") == lab.device("B")
    assert (rerouted.name, rerouted.file, rerouted.links) == (lab.name, lab.file, lab.links)
    with pytest.raises(LabError, match="no device 'Z'"):
        lab.rerouted({"Z": elsewhere})


# -- the testbeds that come with labtests ------------------------------------------------------


def test_the_lab_of_the_article_is_as_the_article_says() -> None:
    lab = load(ROOT / "testbeds/h3c-s6550-cx4.yaml")
    receiver = lab.roles["receiver"][0]

    assert [lab.port(sender).address for sender in lab.roles["senders"]] == [
        "192.168.10.10",
        "192.168.10.11",
    ]
    assert lab.port(receiver).address == "192.168.10.12"
    assert str(lab.peer(receiver)) == "S6550:Twenty-FiveGigE1/0/13"
    assert {link.speed_bits_per_s for link in lab.links} == {10_000_000_000}


def test_the_second_lab_has_five_senders_and_shares_no_name_with_the_first() -> None:
    lab, other = (load(ROOT / f"testbeds/{n}.yaml") for n in ("incast-5to1", "h3c-s6550-cx4"))

    assert len(lab.roles["senders"]) == 5
    assert {d.name for d in lab.devices}.isdisjoint(d.name for d in other.devices)
    assert lab.device("gpu01").management.become
    assert not lab.device("tor7").management.become


# -- the schema for editors --------------------------------------------------------------------


def test_the_json_schema_is_json_and_forbids_unknown_keys_everywhere() -> None:
    schema = json.loads(json.dumps(json_schema()))

    assert schema["$schema"].endswith("2020-12/schema")
    assert schema["additionalProperties"] is False
    assert all(part["additionalProperties"] is False for part in schema["$defs"].values())
    ports = schema["$defs"]["DeviceForm"]["properties"]["ports"]
    assert ports["additionalProperties"] is False
    (pattern,) = ports["patternProperties"]
    assert re.search(pattern, "Twenty-FiveGigE1/0/13")
    assert not re.search(pattern, "a; rm -rf /")


# -- whatever a file holds ---------------------------------------------------------------------

_TREES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["name", "devices", "links", "roles", "between", "management", "A"])
            | st.text(max_size=5),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(tree=_TREES)
def test_any_yaml_is_a_testbed_or_a_list_of_placed_mistakes(
    tmp_path_factory: pytest.TempPathFactory, tree: object
) -> None:
    file = tmp_path_factory.getbasetemp() / "any.yaml"
    file.write_text(yaml.safe_dump(tree, allow_unicode=False))

    with pytest.raises(InventoryError) as caught:
        load(file)

    for line in caught.value.mistakes:
        assert re.match(rf"{re.escape(str(file))}:[0-9]+:[0-9]+: \S", line)
        assert line.isprintable()


@given(content=st.binary(max_size=60))
def test_any_bytes_give_mistakes_never_another_error(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    file = tmp_path_factory.getbasetemp() / "bytes.yaml"
    file.write_bytes(content)

    with pytest.raises(InventoryError):
        load(file)
