"""What YAML leaves unclear, and files that are no testbed at all."""

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest

from labtests.core.errors import InventoryError
from labtests.inventory import load
from labtests.inventory.document import read

Expect = Callable[..., None]
Mistakes = Callable[[str | bytes], list[str]]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "1:1: file: the file is empty"),
        ("# only a comment\n", "1:1: file: the file is empty"),
        ("- a\n- b\n", "1:1: file: a testbed file is a mapping (key: value), not a list"),
        ("lab", '1:1: file: a testbed file is a mapping (key: value), not the text "lab"'),
        ("~", "1:1: file: a testbed file is a mapping (key: value), not empty"),
        (
            "name: lab\nlinks: [a, b\n",
            "3:1: file: not valid YAML: did not find expected ',' or ']' (while parsing a flow "
            "sequence that began in line 2)",
        ),
        (
            "name: a: b\n",
            "1:8: file: not valid YAML: mapping values are not allowed in this context",
        ),
        (
            "name: lab\n\tdevices: {}\n",
            "2:1: file: not valid YAML: found a tab character that violates indentation (while "
            "scanning a plain scalar that began in line 1)",
        ),
        ("name: *lab\n", "1:7: file: not valid YAML: found undefined alias"),
        (
            "name: lab\n---\nname: lab2\n",
            "2:1: file: not valid YAML: but found another document (expected a single document in "
            "the stream that began in line 1)",
        ),
        ("name: l\x07b\n", "1:8: file: the character U+0007 is not allowed in YAML"),
        ("name: läb\x00\n", "1:10: file: the character U+0000 is not allowed in YAML"),
    ],
)
def test_a_text_that_is_no_testbed_is_refused_with_its_position(
    mistakes: Mistakes, text: str, line: str
) -> None:
    assert mistakes(text) == [line]


def test_a_file_that_is_not_utf_8_is_refused_at_the_byte(mistakes: Mistakes) -> None:
    assert mistakes("name: lab\ndescription: für".encode("latin-1")) == [
        "2:15: file: byte 0xfc is not UTF-8: save it as UTF-8"
    ]


def test_a_byte_order_mark_is_no_mistake(loaded: Callable[..., object], valid: str) -> None:
    loaded(b"\xef\xbb\xbf" + valid.encode())


def test_line_ends_of_windows_are_no_mistake(loaded: Callable[..., object], valid: str) -> None:
    loaded(valid.replace("\n", "\r\n"))


def test_a_missing_file_is_one_mistake(tmp_path: Path) -> None:
    with pytest.raises(InventoryError) as caught:
        load(tmp_path / "none.yaml")

    assert caught.value.mistakes == (
        f"{tmp_path}/none.yaml:1:1: file: cannot be read: No such file or directory",
    )


def test_a_folder_is_no_testbed(tmp_path: Path) -> None:
    with pytest.raises(InventoryError, match=":1:1: file: cannot be read: Is a directory"):
        load(tmp_path)


# -- what YAML 1.1 and 1.2 read differently ----------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (
            "{user: root}",
            "{user: root, become: §no}",
            'defaults.become: "no" is a truth value only in YAML 1.1: write true or false, or '
            "quote it",
        ),
        (
            "{user: root}",
            "{user: §12:30:45}",
            'defaults.user: "12:30:45" is a number in base 60 in YAML 1.1: write it in quotes',
        ),
        (
            "name: lab",
            "name: §2024-05-29",
            'name: "2024-05-29" is a date in YAML 1.1: write it in quotes',
        ),
        (
            "{user: root}",
            "{port: §022}",
            'defaults.port: "022" is not a plain decimal number: write it in decimal, or quote it',
        ),
        (
            "{user: root}",
            "{port: §0x16}",
            'defaults.port: "0x16" is not a plain decimal number: write it in decimal, or quote it',
        ),
        (
            '["A:eth0", "S:P1"], speed_gbit_per_s: 10',
            '["A:eth0", "S:P1"], speed_gbit_per_s: §.inf',
            'links[0].speed_gbit_per_s: ".inf" is not a plain decimal number: write it in decimal, '
            "or quote it",
        ),
        (
            '["A:eth0", "S:P1"]',
            '[§1:2, "A:eth0"]',
            'links[0].between[0]: "1:2" is a number in base 60 in YAML 1.1: write it in quotes',
        ),
        (
            "name: lab",
            "name: §!!python/object/apply:os.system lab",
            'name: the tag of "lab" ("python/object/apply:os.system") is not read here: quote the '
            "value",
        ),
        (
            "{user: root}",
            "§!!set {user}",
            'defaults: the tag "tag:yaml.org,2002:set" is not read here: remove it',
        ),
        (
            "{user: root}",
            "{user: root, §<<: {port: 3}}",
            "defaults: key: merge keys (<<) are not read here: use groups and defaults",
        ),
        (
            "P3: {}",
            "P3: {}, §no: {}",
            'devices.S.ports: key: YAML 1.1 does not read "no" as text: quote it',
        ),
        (
            "P3: {}",
            "P3: {}, §12:30:45: {}",
            'devices.S.ports: key: YAML 1.1 does not read "12:30:45" as text: quote it',
        ),
        (
            "P3: {}",
            "P3: {}, §~: {}",
            'devices.S.ports: key: "~" is not a name: write it in quotes if it is meant as text',
        ),
        (
            "P3: {}",
            "P3: {}, ? §[a] : {}",
            "devices.S.ports: key: a list or mapping cannot be a key",
        ),
    ],
)
def test_what_yaml_leaves_unclear_is_refused(
    expect: Expect, old: str, new: str, problem: str
) -> None:
    expect({old: new}, problem)


def test_quoted_words_and_plain_numbers_as_names_are_fine(
    loaded: Callable[..., object], valid: str
) -> None:
    loaded(valid.replace("P3: {}", 'P3: {}, "no": {}, "12:30:45": {}, 7: {}'))


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1E6", 1_000_000),
        ("1e+6", 1_000_000),
        ("2.5e3", 2500),
        ("1.0e+6", 1_000_000),
        ("2.5e-1", 0.25),
        ("1e-5", 1e-5),
        ("3.0", 3.0),
        ("1e300", 1e300),
    ],
)
def test_a_number_with_an_exponent_is_whole_where_it_is(text: str, number: float) -> None:
    (value,) = read("numbers.yaml", f"[{text}]".encode()).tree
    assert (value, type(value)) == (number, type(number))


# -- aliases and nesting -----------------------------------------------------------------------


def test_an_alias_is_read_like_the_text_it_stands_for(
    loaded: Callable[..., object], valid: str
) -> None:
    text = valid.replace(
        "speed_gbit_per_s: 10, length_m: 3}", "speed_gbit_per_s: 10, length_m: *m}"
    )
    loaded(text.replace("length_m: *m", "length_m: &m 3", 1))


def test_aliases_that_explode_are_refused_quickly(mistakes: Mistakes) -> None:
    levels = "abcdefghij"
    text = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"{new}: &{new} [{', '.join([f'*{old}'] * 10)}]\n"
        for old, new in itertools.pairwise(levels)
    )

    (line,) = mistakes(text)

    assert line.endswith(": aliases expand to more than 10000 values")


def test_an_alias_inside_itself_is_refused(mistakes: Mistakes) -> None:
    assert mistakes("name: lab\ndevices: &x {A: *x}\n")[0] == (
        "2:10: devices.A: an alias that contains itself"
    )


@pytest.mark.parametrize("opening", ["[", "{a: ", "- "])
def test_deep_nesting_is_refused_before_it_can_hurt(mistakes: Mistakes, opening: str) -> None:
    (line,) = mistakes(opening * 50_000)

    assert line.startswith("1:")
    assert line.endswith(": file: not valid YAML: nested deeper than 20 levels")


def test_a_huge_file_is_refused(mistakes: Mistakes) -> None:
    assert mistakes(b"#" * (2**20 + 1)) == [
        "1:1: file: larger than 1048576 bytes: no file of labtests needs that"
    ]


# -- files made to hurt ------------------------------------------------------------------------


def test_a_file_without_end_is_refused() -> None:
    with pytest.raises(InventoryError, match="is not a regular file"):
        load("/dev/zero")


def test_not_more_mistakes_are_explained_than_anybody_reads(mistakes: Mistakes) -> None:
    lines = mistakes("".join(f"key{number}: 1\n" for number in range(50_000)))

    assert len(lines) == 1001
    assert lines[-1] == "1:1: file: 1000 mistakes are listed, there may be more"


def test_a_hint_does_not_list_thousands_of_names(mistakes: Mistakes, valid: str) -> None:
    many = "".join(
        f"  D{n}: {{platform: connectx, management: {{host: d{n}}}}}\n" for n in range(3000)
    )
    links = "".join(
        f'  - {{between: ["X{n}:eth0", "Y{n}:eth0"], speed_gbit_per_s: 1, length_m: 1}}\n'
        for n in range(400)
    )
    lines = mistakes(valid.replace("links:\n", f"{many}links:\n{links}"))

    assert len(lines) > 700
    assert max(map(len, lines)) < 300


@pytest.mark.parametrize(
    "strange", ["\\x9b31m", "\\u202e", "\\u200b", "\\u2028", "\\x1b]0;x\\x07", "\\uFEFF"]
)
def test_what_a_terminal_would_obey_or_hide_is_no_path_and_no_description(
    mistakes: Mistakes, valid: str, strange: str
) -> None:
    (file,) = mistakes(valid.replace("{user: root}", f'{{known_hosts: "k{strange}"}}'))
    (text,) = mistakes(valid.replace("name: lab\n", f'name: lab\ndescription: "d{strange}"\n'))

    assert "defaults.known_hosts: a path to a file" in file
    assert "description: a description is at most" in text
    assert strange not in file + text
