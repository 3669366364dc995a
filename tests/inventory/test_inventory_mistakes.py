"""Every kind of mistake in a testbed file, at its exact line and column."""

from collections.abc import Callable

import pytest

Expect = Callable[..., None]
Mistakes = Callable[[str | bytes], list[str]]


def position(text: str, part: str) -> str:
    """Where a part of the text stands, as line:column."""
    lines = text[: text.index(part)].split("\n")
    return f"{len(lines)}:{len(lines[-1]) + 1}"


# -- keys --------------------------------------------------------------------------------------


def test_an_unknown_key_is_refused_with_the_nearest_known_one(expect: Expect) -> None:
    expect(
        {"address: 10.0.0.2/24": "§adress: 10.0.0.2/24"},
        'devices.B.ports.eth0.adress: unknown key "adress": did you mean address?',
    )


def test_an_unknown_key_far_from_all_known_ones_gets_the_list(expect: Expect) -> None:
    expect(
        {"rdma: mlx5_0": "§colour: red"},
        'devices.A.ports.eth0.colour: unknown key "colour": known: address, rdma, vlan',
    )


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("name: lab", "name: lab\n§nmae: x", 'nmae: unknown key "nmae": did you mean name?'),
        (
            "{platform: connectx}",
            "{platform: connectx, §usr: x}",
            'groups.servers.usr: unknown key "usr": did you mean user?',
        ),
        (
            "{user: root}",
            "{user: root, §hostkeys: strict}",
            'defaults.hostkeys: unknown key "hostkeys": did you mean host_keys?',
        ),
        (
            "management: {host: s}",
            "management: {host: s, §Port: 22}",
            'devices.S.management.Port: unknown key "Port": did you mean port?',
        ),
        (
            "{platform: comware,",
            "{§user: admin, platform: comware,",
            'devices.S.user: unknown key "user": it belongs into management',
        ),
        (
            "{user: root}",
            "{user: root, §management: {host: x}}",
            'defaults.management: unknown key "management": write what it holds directly into '
            "defaults",
        ),
        (
            '["A:eth0", "S:P1"], speed_gbit_per_s: 10,',
            '["A:eth0", "S:P1"], speed_gbit_per_s: 10, §lenght_m: 3,',
            'links[0].lenght_m: unknown key "lenght_m": did you mean length_m?',
        ),
    ],
)
def test_an_unknown_key_is_found_in_every_part(
    expect: Expect, old: str, new: str, problem: str
) -> None:
    expect({old: new}, problem)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (
            "name: lab",
            "name: lab\n§name: other",
            "name: key given twice: here and in line 1; remove one",
        ),
        (
            "  S: {platform",
            "  §A: {}\n  S: {platform",
            "devices.A: key given twice: here and in line 6; remove one",
        ),
        (
            "P3: {}",
            "P3: {}, §P1: {}",
            "devices.S.ports.P1: key given twice: here and in line 9; remove one",
        ),
        (
            "rdma: mlx5_0",
            "rdma: mlx5_0, §rdma: mlx5_1",
            "devices.A.ports.eth0.rdma: key given twice: here and in line 6; remove one",
        ),
        (
            '["C:eth0", "S:P3"], speed_gbit_per_s: 10',
            '["C:eth0", "S:P3"], speed_gbit_per_s: 10, §speed_gbit_per_s: 25',
            "links[2].speed_gbit_per_s: key given twice: here and in line 13; remove one",
        ),
        (
            "{senders: [A, B]",
            "{senders: [A, B], §senders: [B]",
            "roles.senders: key given twice: here and in line 14; remove one",
        ),
    ],
)
def test_a_key_given_twice_is_refused_at_every_level(
    expect: Expect, old: str, new: str, problem: str
) -> None:
    expect({old: new}, problem)


def test_a_missing_key_is_reported_at_what_lacks_it(expect: Expect) -> None:
    expect(
        {
            "  S: {platform: comware, management: {host: s},": "  §S: {platform: comware,",
            '{between: ["B:eth0", "S:P2"], speed_gbit_per_s: 10,': '§{between: ["B:eth0", "S:P2"],',
        },
        "devices.S.management: is missing",
        "links[1].speed_gbit_per_s: is missing",
    )


def test_a_testbed_without_name_and_devices_says_so_at_its_start(mistakes: Mistakes) -> None:
    assert mistakes("description: nothing\n") == [
        "1:1: devices: is missing",
        "1:1: name: is missing",
    ]


# -- values ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("name: lab", "name: §42", "name: must be text, not the number 42: write it in quotes"),
        ("name: lab", "name: §~", "name: must be text, not empty"),
        ("name: lab", "name: §true", "name: must be text, not true"),
        (
            "{user: root}",
            "{user: root, become: §sometimes}",
            'defaults.become: must be true or false, not the text "sometimes"',
        ),
        (
            "{user: root}",
            '{user: root, port: §"22"}',
            'defaults.port: must be a whole number, not the text "22"',
        ),
        ("{user: root}", "{user: root, port: §0}", "defaults.port: must be at least 1"),
        ("{user: root}", "{user: root, port: §65536}", "defaults.port: must be at most 65535"),
        (
            "{user: root}",
            "{user: root, host_keys: §strikt}",
            "defaults.host_keys: must be strict or accept-new; did you mean strict?",
        ),
        ("{user: root}", "§[user, root]", "defaults: must be a mapping (key: value), not a list"),
        (
            "management: {host: s}",
            "management: §s",
            'devices.S.management: must be a mapping (key: value), not the text "s"',
        ),
        (
            '["A:eth0", "S:P1"], speed_gbit_per_s: 10',
            '["A:eth0", "S:P1"], speed_gbit_per_s: §0',
            "links[0].speed_gbit_per_s: must be at least 0.001",
        ),
        (
            '["A:eth0", "S:P1"], speed_gbit_per_s: 10',
            '["A:eth0", "S:P1"], speed_gbit_per_s: §10G',
            'links[0].speed_gbit_per_s: must be a number, not the text "10G"',
        ),
        (
            '["A:eth0", "S:P1"], speed_gbit_per_s: 10, length_m: 3',
            '["A:eth0", "S:P1"], speed_gbit_per_s: 10, length_m: §-3',
            "links[0].length_m: must be greater than 0",
        ),
        (
            "rdma: mlx5_0, address: 10.0.0.1/24",
            "rdma: mlx5_0, address: §10.0.0.256/24",
            "devices.A.ports.eth0.address: an address is IPv4 with a prefix, such as "
            "192.168.10.10/24",
        ),
        (
            "rdma: mlx5_0, address: 10.0.0.1/24",
            "rdma: mlx5_0, address: §10.0.0.1/33",
            "devices.A.ports.eth0.address: an address is IPv4 with a prefix, such as "
            "192.168.10.10/24",
        ),
        (
            "rdma: mlx5_0, address: 10.0.0.1/24",
            "rdma: mlx5_0, address: §10.0.0.0/24",
            "devices.A.ports.eth0.address: this is the network or broadcast address of 10.0.0.0/24",
        ),
        (
            "rdma: mlx5_0, address: 10.0.0.1/24",
            "rdma: mlx5_0, address: §224.0.0.1/24",
            "devices.A.ports.eth0.address: a port cannot have this address",
        ),
    ],
)
def test_a_value_of_the_wrong_kind_is_refused_where_it_stands(
    expect: Expect, old: str, new: str, problem: str
) -> None:
    expect({old: new}, problem)


def test_a_link_needs_two_ports(expect: Expect) -> None:
    expect(
        {
            '["A:eth0", "S:P1"]': '§["A:eth0"]',
            '["B:eth0", "S:P2"]': '§["B:eth0", "S:P2", "S:P1"]',
        },
        "links[0].between: must have at least 2 entries",
        "links[1].between: must have at most 2 entries",
    )


def test_a_role_needs_a_port(expect: Expect) -> None:
    expect({"senders: [A, B]": "senders: §[]"}, "roles.senders: must have at least 1 entry")


HOSTILE = [
    '"a; rm -rf /"',
    '"a\\nreboot"',
    '"a b"',
    '"a\'b"',
    '"a\\"b"',
    '"$(reboot)"',
    '"`reboot`"',
    '"-oProxyCommand=reboot"',
    '"<script>"',
    '"a|b"',
    '"é"',
    '"\\e[31m"',
    '""',
]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_hostile_device_name_is_refused(mistakes: Mistakes, valid: str, hostile: str) -> None:
    text = valid.replace("\n  S: {", f"\n  {hostile}: {{management: {{host: x}}}}\n  S: {{")
    text = text.replace("defaults: {", "defaults: {platform: comware, ")

    (line,) = mistakes(text)

    assert line.startswith("9:3: devices.")
    assert ": a name has letters, digits" in line
    assert line.isprintable()


@pytest.mark.parametrize("hostile", [*HOSTILE, '"a/../../../etc"'])
def test_a_hostile_interface_is_refused(mistakes: Mistakes, valid: str, hostile: str) -> None:
    text = valid.replace("P3: {}", f"P3: {{}}, {hostile}: {{}}")

    (line,) = mistakes(text)

    assert line.startswith(f"{position(text, hostile)}: devices.S.ports.")
    assert ": an interface has letters, digits" in line
    assert line.isprintable()


@pytest.mark.parametrize("hostile", HOSTILE)
@pytest.mark.parametrize("key", ["user", "jump", "password_env"])
def test_hostile_settings_are_refused(
    mistakes: Mistakes, valid: str, key: str, hostile: str
) -> None:
    text = valid.replace("{user: root}", f"{{{key}: {hostile}}}")

    (line,) = mistakes(text)

    assert line.startswith(f"{position(text, hostile)}: defaults.{key}: ")


@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_hostile_rdma_device_host_or_file_is_refused(
    mistakes: Mistakes, valid: str, hostile: str
) -> None:
    (rdma,) = mistakes(valid.replace("mlx5_0", hostile))
    (host,) = mistakes(valid.replace("{host: s}", f"{{host: {hostile}}}"))

    assert "devices.A.ports.eth0.rdma: an RDMA device is a name" in rdma
    assert "devices.S.management.host: a host is a DNS name" in host


def test_the_content_of_a_key_is_no_key_file(mistakes: Mistakes, valid: str) -> None:
    key = '"-----BEGIN OPENSSH PRIVATE KEY-----\\nb3BlbnNza"'

    (line,) = mistakes(valid.replace("{user: root}", f"{{key_file: {key}}}"))

    assert line == (
        "2:22: defaults.key_file: a path to a file, on one line (never the content of a key), "
        "without invisible characters"
    )


# -- secrets -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "key",
    [
        "password",
        "Password",
        "passwd",
        "secret",
        "enable_secret",
        "pw",
        "api_token",
        "become_pass",
        "ansible_ssh_pass",
        "key_passphrase",
        "community",
        "api-key",
    ],
)
def test_a_secret_is_refused_and_never_repeated(mistakes: Mistakes, valid: str, key: str) -> None:
    for value in ("hunter2", "01234567", "no", "[hunter2]"):
        text = valid.replace("{host: s}", f"{{host: s, {key}: {value}}}")

        (line,) = mistakes(text)

        assert line == (
            f"{position(text, key + ': ')}: devices.S.management.{key}: no secrets in a testbed "
            "file: remove it (and change it, if it was real), and name an environment "
            "variable with password_env, or use a key or ssh-agent"
        )


def test_a_password_where_its_variable_should_be_named_is_not_repeated(expect: Expect) -> None:
    expect(
        {"{user: root}": '{user: root, password_env: §"hunter2!"}'},
        "defaults.password_env: this is the NAME of an environment variable that holds the "
        "password, in capitals; never the password",
    )


def test_a_number_where_the_variable_should_be_named_is_not_repeated(expect: Expect) -> None:
    expect(
        {"{user: root}": "{user: root, password_env: §12345678}"},
        "defaults.password_env: must be the name of an environment variable, never the password",
    )


def test_a_password_in_a_jump_host_is_not_repeated(expect: Expect) -> None:
    expect(
        {"{user: root}": "{user: root, jump: §ops:hunter2@bastion}"},
        "defaults.jump: a jump host is written [user@]host[:port], several with commas; it never "
        "holds a password",
    )


# -- everything at once ------------------------------------------------------------------------


def test_all_mistakes_come_at_once_in_the_order_of_the_file(expect: Expect) -> None:
    expect(
        {
            "{user: root}": "{§usr: root}",
            "{platform: connectx}": "{platform: §conectx}",
            "groups: [servers], management: {host: b}": "groups: [§srvers], management: {host: §a}",
            "{address: 10.0.0.3/24}, eth1: ": "{address: §10.0.0.1/24}, eth1: ",
            '["A:eth0", "S:P1"]': '["A:eth0", §"S:P9"]',
            "length_m: 3}\nroles": "§lenght_m: 3, length_m: 3}\nroles",
            "senders: [A, B]": "senders: [A, §D]",
        },
        'defaults.usr: unknown key "usr": did you mean user?',
        'groups.servers.platform: unknown platform "conectx": did you mean connectx?; a new one '
        "is the file labtests/drivers/conectx.py",
        'devices.B.groups[0]: unknown group "srvers": did you mean servers?',
        'devices.B.management.host: management address "a" port 22 is used twice (first in line 6)',
        "devices.C.ports.eth0.address: address 10.0.0.1 is used twice (first in line 6)",
        'links[0].between[1]: S has no port "P9": known: P1, P2, P3',
        'links[2].lenght_m: unknown key "lenght_m": did you mean length_m?',
        'roles.senders[1]: unknown device "D": known: A, B, C, S',
    )
