"""What a `linux_lab:` refuses in the rest of the file, each at its place, and what it gives."""

from pathlib import Path

import pytest

from labtests.core.errors import InventoryError
from labtests.inventory import LinuxLabEcn, Testbed, load

SIGN = "§"
LAB = """\
name: tiny
linux_lab: {runner_address: 10.9.0.254/24, scheduling: equal}
defaults: {platform: linux}
devices:
  A: {management: {host: 10.9.0.1}, ports: {eth1: {address: 10.8.0.1/24}}}
  B: {management: {host: 10.9.0.2, port: 2222}, ports: {eth1: {address: 10.8.0.2/24}}}
  S: {platform: linux-switch, management: {host: 10.9.0.3}, ports: {swp1: {}, swp2: {}}}
links:
  - {between: ["A:eth1", "S:swp1"], speed_gbit_per_s: 0.2, length_m: 1}
  - {between: ["B:eth1", "S:swp2"], speed_gbit_per_s: 0.2, length_m: 1}
roles: {senders: [A], receiver: B}
"""


def _loaded(tmp_path: Path, text: str) -> Testbed:
    file = tmp_path / "lab.yaml"
    file.write_text(text)
    return load(file, platforms={"linux", "linux-switch", "comware"})


def test_the_lab_gives_keys_to_every_device_and_the_file_gives_the_rest(tmp_path: Path) -> None:
    ecn = "ecn: {min_bytes: 30000, max_bytes: 90000}"
    text = LAB.replace("equal", f"weighted, weights: [1, 2, 3, 4, 5, 6, 7, 8], mtu: 9000, {ecn}")

    lab = _loaded(tmp_path, text)

    assert lab.linux_lab is not None
    assert lab.linux_lab.weights == (1, 2, 3, 4, 5, 6, 7, 8)
    assert (lab.linux_lab.mtu_bytes, lab.linux_lab.prefix_length) == (9000, 24)
    assert lab.linux_lab.ecn == LinuxLabEcn(min_bytes=30000, max_bytes=90000, probability=0.1)
    b = lab.device("B").management
    assert (b.host, b.port, b.user, b.host_keys) == ("10.9.0.2", 2222, "root", "strict")
    assert b.key_file == "/run/labtests/linuxlab/tiny/id_ed25519"
    assert b.known_hosts == "/run/labtests/linuxlab/tiny/known_hosts"


def test_without_the_section_nothing_of_it_is_asked(tmp_path: Path) -> None:
    text = LAB.replace("linux_lab: {runner_address: 10.9.0.254/24, scheduling: equal}\n", "")

    lab = _loaded(tmp_path, text.replace("host: 10.9.0.1", "host: a.example, jump: b"))

    assert lab.linux_lab is None
    assert lab.device("B").management.key_file is None


def test_it_makes_no_vlan_interfaces(tmp_path: Path) -> None:
    with pytest.raises(InventoryError) as caught:
        _loaded(tmp_path, LAB.replace("/24}", "/24, vlan: {id: 9}}"))
    said = [line.partition("lab.yaml:")[2] for line in caught.value.mistakes]
    assert [line.partition(" ")[0] for line in said] == ["5:80:", "6:92:"]
    assert all("the lab makes no VLAN interfaces: remove it" in line for line in said)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("{platform: linux-switch", "{platform: §comware", 'S cannot be "comware" in a lab of'),
        ("{host: 10.9.0.1}", "{host: §10.7.0.1}", "must be an address in 10.9.0.0/24"),
        ("{host: 10.9.0.1}", "{host: §a.example}", "must be an address in 10.9.0.0/24"),
        ("{host: 10.9.0.1}", "{host: §10.9.0.254}", "is the runner's own address"),
        ("{host: 10.9.0.1}", "{host: 10.9.0.1, key_file: §k}", "the lab makes its own SSH keys"),
        ("{host: 10.9.0.1}", "{host: 10.9.0.1, jump: §b}", "are reached from this machine"),
        ("{host: 10.9.0.1}", "{host: 10.9.0.1, user: §joe}", "one logs in as root"),
        ("{swp1: {}, ", "{swp1: {}, §swp3: {}, ", "a port without a link"),
        ("{swp1: {}, ", "{swp1: {}, §br0: {}, ", "no name for a port here"),
        ("{swp1: {}, ", "{swp1: {}, §TwentyFiveGigE1/0/1: {}, ", "no name for a port here"),
        ("{swp1: {}, ", "{swp1: {address: §10.8.0.9/24}, ", "a port of the bridge has no address"),
        ("address: 10.8.0.1/24", "address: §10.8.0.1", "write the prefix too"),
        ("10.9.0.254/24", "§10.9.0.254", "write the prefix too"),
        ("scheduling: equal", "scheduling: §weighted", "weighted needs `weights:`"),
        ("scheduling: equal", "scheduling: §wierd", "must be equal, strict or weighted"),
        ("scheduling: equal", "weights: §[1, 1, 1, 1, 1, 1, 1, 1]", "weights need `scheduling:"),
        ("scheduling: equal", "mtu: §90", "must be at least 1280"),
        ("scheduling: equal", "queue_limit_bytes: §1", "must be at least 3000"),
        (
            "scheduling: equal",
            "ecn: {min_bytes: 9000, max_bytes: §8000}",
            "must be greater than min",
        ),
        ("scheduling: equal", "§queue_limit: 9", "did you mean queue_limit_bytes?"),
    ],
)
def test_what_namespaces_cannot_be_is_refused_at_its_place(
    tmp_path: Path, old: str, new: str, problem: str
) -> None:
    text = LAB.replace(old, new)
    before = text.partition(SIGN)[0].split("\n")

    with pytest.raises(InventoryError) as caught:
        _loaded(tmp_path, text.replace(SIGN, ""))

    assert len(caught.value.mistakes) == 1
    place = f"{tmp_path}/lab.yaml:{len(before)}:{len(before[-1]) + 1}: "
    assert caught.value.mistakes[0].startswith(place)
    assert problem in caught.value.mistakes[0]
