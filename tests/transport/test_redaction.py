"""No secret leaves by the journal or by a log."""

import base64
import io
import json
import logging
import time
from collections.abc import Callable
from itertools import zip_longest
from pathlib import Path
from urllib.parse import quote

import pytest
from cli_server import PASSWORD, CliServer
from hypothesis import example, given
from hypothesis import strategies as st
from typed import typed

from labtests.core.clock import WallClock
from labtests.core.printable import for_terminal
from labtests.core.redaction import RedactingFilter, Redaction, redacted_logs
from labtests.transport.ssh import connect
from labtests.transport.transcript import Transcript

SECRETS = st.text(min_size=4, max_size=20)
AROUND = st.text(max_size=20)


def escapings(text: str) -> list[str]:
    """The text as JSON, repr and nested JSON write it, without the quotes around."""
    once = json.dumps(text)[1:-1]
    return [
        text,
        once,
        json.dumps(text, ensure_ascii=False)[1:-1],
        json.dumps(once)[1:-1],
        once.replace("/", "\\/"),
        "".join(f"\\u{ord(c):04X}" if ord(c) < 0x10000 else c for c in text),
        repr("'\"" + text)[4:-1] if "'" in text else repr(text)[1:-1],
    ]


@given(SECRETS, AROUND, AROUND, st.integers(0, 6))
@example("0\x1f\x08\U00010000", "", "", 5)
def test_no_secret_survives_in_any_escaping(
    secret: str, before: str, after: str, number: int
) -> None:
    written = escapings(secret)[number]
    redacted = Redaction([secret]).text(before + written + after)
    assert secret not in redacted
    assert len(written) < 4 or written not in redacted


@given(st.lists(SECRETS, min_size=1, max_size=4), AROUND)
def test_a_whole_journal_line_holds_no_secret(secrets: list[str], around: str) -> None:
    value = {"text": around + around.join(secrets) + around, "inner": [json.dumps(secrets)]}
    clean = Redaction(secrets).value(value)
    for secret in secrets:
        assert secret not in clean["text"]
        assert json.dumps(secret)[1:-1] not in clean["inner"][0]


@given(AROUND)
def test_text_without_secrets_stays_as_it_is(text: str) -> None:
    assert Redaction(["unmistakable-secret"]).text(text) == text


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        # Comware configuration
        (" password hash $h$6$abcd==", " password hash ***"),
        (" password simple hunter2", " password simple ***"),
        ("super password role network-admin simple hunter2",) * 2,
        ("snmp-agent community read cipher $c$3$xyz=", "snmp-agent community read cipher ***"),
        ("key authentication cipher $c$3$abc", "key authentication cipher ***"),
        ("username bob password 7 0822455D0A16", "username bob password 7 ***"),
        ("username bob password hunter2", "username bob password ***"),
        ("enable secret 5 $1$mERr$hx5r", "enable secret 5 ***"),
        # NX-OS configuration
        (" ip ospf message-digest-key 1 md5 3 3109a60f", " ip ospf message-digest-key 1 md5 3 ***"),
        (" ip ospf authentication-key 3 a667d47a", " ip ospf authentication-key 3 ***"),
        (" authentication md5 key-string 7 08224", " authentication md5 key-string 7 ***"),
        ("isis password 3 a667d47a level-1", "isis password 3 *** level-1"),
        ("password 10 $8$abc", "password 10 ***"),
        ("tacacs-server key 7 0822455D", "tacacs-server key 7 ***"),
        ('tacacs-server host 10.0.0.1 key 7 "Fewhg" x', 'tacacs-server host 10.0.0.1 key 7 ***" x'),
        ("ntp authentication-key 1 md5 Fewhg 7", "ntp authentication-key 1 md5 *** 7"),
        ("auth sha-256 0xabc priv aes-128 0xdef x", "auth sha-256 *** priv aes-128 *** x"),
        ("snmp-server community Pr1vate RO", "snmp-server community *** RO"),
        ("user a auth md5 0xabc priv 0xdef x", "user a auth md5 *** priv *** x"),
        ("enable secret sha512 $6$abc", "enable secret sha512 ***"),
        ("hsrp authentication text hunter22", "hsrp authentication text ***"),
        ("keyid 1 key ascii hunter2", "keyid 1 key ascii ***"),
        # what libraries log
        ("{'password': 'hunter2', 'port': 22}", "{'password': '***', 'port': 22}"),
        ('{"password": "hunter2"}', '{"password": "***"}'),
        ('{\\"password\\": \\"hunter2\\"}', '{\\"password\\": \\"***\\"}'),
        ("'sudo': {'password': None}", "'sudo': {'password': None}"),
        ("SWITCH_PASSWORD=hunter2 ssh leaf1", "SWITCH_PASSWORD=*** ssh leaf1"),
        # prose and telemetry
        ("sudo: a password is required", "sudo: a password is required"),
        ("[sudo] password for root: ", "[sudo] password for root: "),
        ("Password: ", "Password: "),
        ("password-control enable", "password-control enable"),
        ("Load sharing: hash 12 simple 3", "Load sharing: hash 12 simple 3"),
        ("rx_prio5_pause: 17", "rx_prio5_pause: 17"),
        ("public key 3072 bits, key 1 of 2", "public key 3072 bits, key 1 of 2"),
    ],
)
def test_secrets_are_known_by_their_place(text: str, clean: str) -> None:
    if text.startswith("super"):
        clean = "super password role network-admin simple ***"
    assert Redaction().text(text) == clean


@pytest.mark.parametrize("end", ["\n-----END OPENSSH PRIVATE KEY-----\nafter", ""])
@pytest.mark.parametrize("newline", ["\n", "\\n"])
def test_private_keys_are_hidden_even_when_cut(end: str, newline: str) -> None:
    body = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmU"
    text = f"before -----BEGIN OPENSSH PRIVATE KEY-----{newline}{body}{newline}{body}{end}"
    clean = Redaction().text(text)
    assert "b3Blb" not in clean
    assert clean.startswith("before ")
    assert clean.endswith("after") == bool(end)


def test_secrets_too_short_to_tell_from_text_are_left() -> None:
    assert Redaction(["", "abc"]).text("abcabc") == "abcabc"


def test_a_filter_on_a_handler_cleans_messages_and_tracebacks() -> None:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.addFilter(RedactingFilter(Redaction(["hunter22"])))
    logger = logging.getLogger("labtests.test.redaction")
    logger.addHandler(handler)
    try:
        logger.warning("login %s with %r", "root", {"x": "hunter22"})
        try:
            raise ValueError("bad: hunter22")
        except ValueError:
            logger.exception("it failed")
    finally:
        logger.removeHandler(handler)
    assert "hunter22" not in stream.getvalue()
    assert "login root with {'x': '***'}" in stream.getvalue()
    assert "ValueError: bad: ***" in stream.getvalue()


def test_no_library_logs_a_secret_at_debug(
    switch: CliServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("SWITCH_PASSWORD", PASSWORD)
    caplog.set_level(logging.DEBUG)
    with redacted_logs(Redaction([PASSWORD])):
        transport = connect(switch.device(), "hp_comware", clock=WallClock())
        transport.run(typed(f"display {PASSWORD}"))
        transport.close()
        logging.getLogger("invoke").debug("config: %s", {"sudo": {"password": PASSWORD}})
    assert "paramiko.transport" in {record.name for record in caplog.records}
    assert "netmiko" in {record.name for record in caplog.records}
    assert "'password': '***'" in caplog.text
    assert PASSWORD not in caplog.text
    logging.getLogger("invoke").debug("afterwards logs are as they were: %s", PASSWORD)
    assert PASSWORD in caplog.text


def test_a_journal_is_private_and_complete_after_each_line(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_text("old")
    path.chmod(0o644)
    with Transcript(path, secrets=["hunter22"]) as transcript:
        transcript.note("leaf1", "set to hunter22 because of 'password hunter3'")
        lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert path.stat().st_mode & 0o777 == 0o600
    assert [line["order"] for line in lines] == [1, 2]
    assert lines[0]["text"] == "labtests-journal/1"
    assert lines[1]["text"] == "set to *** because of 'password ***'"
    transcript.note("leaf1", "after the end")
    assert len(path.read_text().splitlines()) == 2


@pytest.mark.parametrize(
    "text", ["PA\u017f\u017fWORD hunter2", "pa\u017fsword = hunter2", "\u212aey 1 cipher hunter2"]
)
def test_letters_that_are_other_cases_of_those_of_a_word_do_not_hide_it(text):
    assert "hunter2" not in Redaction().text(text)


HARD = 'hunter2-"S\\écret'
DISGUISES = [
    HARD.upper(),
    HARD.swapcase(),
    "".join(f"{c}\x00" for c in HARD),
    "".join(f"{c}\x1b[31m" for c in HARD),
    "".join(f"{c}\u200b" for c in HARD),
    "\n".join(HARD),
    json.dumps(HARD.upper()),
    HARD.encode().hex(),
    HARD.encode().hex().upper(),
    quote(HARD, safe=""),
    *(base64.b64encode(f"{'x' * n}{HARD}{'y' * n}".encode()).decode() for n in range(4)),
    *(base64.urlsafe_b64encode(f"{'x' * n}{HARD}".encode()).decode() for n in range(3)),
]


@pytest.mark.parametrize("disguise", DISGUISES)
def test_a_secret_is_known_in_other_spellings(disguise: str) -> None:
    clean = Redaction([HARD]).text(f"said {disguise} and more")
    assert "***" in clean
    assert clean.startswith("said ")
    assert clean.endswith(" and more")
    assert len(clean) < len("said  and more") + 12  # of base64, what stands around it


@pytest.mark.parametrize("way", [json.dumps, repr, lambda text: json.dumps(json.dumps(text))])
@pytest.mark.parametrize("between", ["\t", "\n", "\r\n"], ids=["TAB", "LF", "CR LF"])
def test_a_written_line_end_does_not_hide_a_secret(between: str, way: Callable[[str], str]) -> None:
    assert way("***") == Redaction(["Hunter2-Geheim"]).text(way(f"Hunter{between}2-Geheim"))


def test_a_tab_does_not_hide_a_short_secret_of_two_kinds_of_characters() -> None:
    assert Redaction(["Abc-123"]).text("it: Abc-\t123") == "it: ***"


def test_the_bytes_of_a_secret_as_repr_writes_them_are_known() -> None:
    assert Redaction(["Schlüssel-9"]).text(repr("Schlüssel-9".encode())) == "b'***'"


def test_columns_of_digits_are_not_joined_to_a_secret() -> None:
    text = "0\n0\n0\n0\n12\t34\n1234\n5678\n"
    assert Redaction(["0000", "12345678", "1234"]).text(text) == text.replace("1234", "***")


def test_a_text_that_spells_a_secret_for_ever_is_hidden_as_a_whole() -> None:
    assert Redaction(["***a"]).text("***" + "a" * 10_000) == "***"


UNITS = ["\\", "password '", "password ", " ", "\x00", "a\n", "key cipher ", "secret 5 ", "\t", "'"]
UNITS += ['password \\"', "\\u0068", "password_", "hunter2-", "-----BEGIN PRIVATE KEY-----"]
UNITS += ["\x1b]", "\x1bP", "\x9d0", "\\x1b]", "\x1b[", "\x1b[1", "\x1b]a\\"]
UNITS += ["\x1b\x07", "\x1b[1\x7f", "\x1bk", "\x1b]\x85", "\\\\u001b]", "\x1b(\x00\x90"]
UNITS += ["\x1bP\x07", "\x9b", "\\u009d", "\\x1bP\\x07", "\x1b]\\x0"]


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("start", ["", "password '"])
def test_twice_the_text_takes_twice_the_time(unit: str, start: str) -> None:
    """Whatever a device says. The time of the process is taken, the least of two."""
    redaction = Redaction([HARD, "hunter2-hunter3"])

    def least_s(length: int) -> float:
        text = start + unit * (length // len(unit))
        return min(_took_s(lambda: redaction.text(text)) for _ in range(2))

    assert least_s(40_000) < 8 * least_s(10_000) + 0.02  # 4 times the text; squared, it were 16


@pytest.mark.parametrize("unit", ["\n", "\x07a", "\\a"])
def test_what_nobody_sees_costs_hardly_more_than_what_everybody_does(unit: str) -> None:
    """A large answer of it held the interpreter, and with it the heartbeat of the lease."""
    redaction, text = Redaction([HARD]), unit * (400_000 // len(unit))

    def looked_at() -> int:
        return sum(map(ord, text))  # each character once

    each_s = min(_took_s(looked_at) for _ in range(3))
    assert min(_took_s(lambda: redaction.text(text)) for _ in range(3)) < 50 * each_s


ST = "\x1b\\"
SEQUENCES = {
    "title": "\x1b]0;title\x07",
    "title, ST": f"\x1b]2;C:\\x {ST}",
    "title, 8-bit": "\x9d0;title\x9c",
    "link": f"\x1b]8;;http://h.example/{ST}",
    "clipboard": "\x1b]52;c;aHVudGVy\x07",
    "title over lines": "\x1b]0;one\ntwo\x07",
    "title, given up": "\x1b]0;title\x18",
    "title, then a colour": "\x1b]0;title\x1b[31m",
    "dcs": f"\x1bPq#0;2;0;0;0{ST}",
    "dcs with a bell": f"\x1bPq a\x07b{ST}",
    "dcs, 8-bit": "\x90+q544e\x9c",
    "apc": f"\x1b_Gf=24;AAAA{ST}",
    "apc, 8-bit": "\x9fG\x9c",
    "pm": f"\x1b^private{ST}",
    "pm, 8-bit": "\x9eprivate\x9c",
    "sos": f"\x1bXstart{ST}",
    "sos, 8-bit": "\x98start\x9c",
    "colour": "\x1b[38;2;1;2;3m",
    "colour, 8-bit": "\x9b31m",
    "colour, cut by a bell": "\x1b[3\x071m",
    "colour, bell before [": "\x1b\x07[31m",
    "colour, line end before [": "\x1b\n[31m",
    "colour, nothing before [": "\x1b\x7f\x00[31m",
    "colour, nothing in it": "\x1b[3\x7f1m",
    "colour, tab in it": "\x1b[3\t1m",
    "colour, line end in it": "\x1b[3\r\n1m",
    "colour, given up": "\x1b[31\x18",
    "colour, substituted": "\x1b[31\x1a",
    "colour, then another": "\x1b[31\x1b[32m",
    "colour, then one in 8-bit": "\x1b[31\x9b32m",
    "colour, 8-bit, given up": "\x9b31\x18",
    "twice begun": "\x1b\x1b[31m",
    "title with a C1": "\x1b]0;a\x85b\x07",
    "title, 8-bit, with a C1": "\x9d0;a\x85b\x07",
    "title with the text of an escape": "\x1b]0;a\\u0007b\x07",
    "title of screen": f"\x1bktitle{ST}",
    "characters": "\x1b(B",
    "characters, nothing in it": "\x1b(\x7fB",
    "characters, bell in it": "\x1b(\x07B",
    "colour, no width in it": "\x1b[3\u200b1m",
    "colour, no width before [": "\x1b\u200b[31m",
    "colour, soft hyphen in it": "\x1b[3\u00ad1m",
    "colour, a tag in it": "\x1b[3\U000e00411m",
    "colour, 8-bit, a variation in it": "\x9b3\ufe0f1m",
    "title, no width before ]": "\x1b\u200b]0;title\x07",
    "title, no width in its end": "\x1b]0;title\x1b\u200b\\",
    "characters, no width in it": "\x1b(\u200bB",
    "announcer, no width in it": "\x1b \u200bF",
    "title of screen, no width in it": f"\x1b\u200bktitle{ST}",
    "keypad": "\x1b=",
    "reset": "\x1bc",
    "several": "\x1b]0;a\x07\x00\x1b[1m\x9c\x90x\x9c",
    "long": f"\x1b]0;{'title ' * 5000}\x07",
}
WAYS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "json": lambda text: json.dumps(text)[1:-1],
    "repr": lambda text: repr(text)[1:-1],
    "twice": lambda text: json.dumps(json.dumps(text)[1:-1])[1:-1],
    "shown": for_terminal,
}
BETWEEN = [
    pytest.param(each, WAYS[way], id=f"{name}, {way}")
    for name, each in SEQUENCES.items()
    for way in WAYS
    if way != "shown" or each == each.translate(dict.fromkeys(range(0x80, 0xA0)))
]  # 8-bit characters are shown as U+FFFD, and what they introduce as text


@pytest.mark.parametrize(("between", "way"), BETWEEN)
def test_what_a_terminal_takes_for_itself_does_not_hide_a_secret(
    between: str, way: Callable[[str], str]
) -> None:
    redaction = Redaction(["hunter22", "Correct-Horse-7"])
    assert redaction.text(way(f"said hun{between}ter22.")) == "said ***."
    assert redaction.text(way(between.join("hunter22"))) == "***"
    assert redaction.text(f"Correct{between}\n{between}-Horse-7") == "***"


WRITTEN = st.sampled_from([way for name, way in WAYS.items() if name != "shown"])


@given(st.lists(st.lists(st.sampled_from(list(SEQUENCES.values())[:-1])), max_size=7), WRITTEN)
def test_nor_do_several_one_after_the_other(
    between: list[list[str]], way: Callable[[str], str]
) -> None:
    pairs = zip_longest("hunter22", map("".join, between), fillvalue="")
    said = "".join(letter + odd for letter, odd in pairs)
    clean = Redaction(["hunter22"]).text(way(f"said {said} and more"))
    assert clean.startswith("said ***")
    assert clean.endswith(" and more")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "before",
    ["\x1b", "\x1b[", "\x1b]", "\x9b", "\x1b]0;", "\x1bP", "\x1b(", "\x1b_x"],
    ids=["ESC", "CSI", "OSC", "CSI, 8-bit", "title", "DCS", "characters", "APC"],
)
def test_nor_does_one_that_eats_the_beginning_of_it(before: str, way: str) -> None:
    """A page, and every file, shows it."""
    clean = Redaction(["hunter22"]).text(WAYS[way](f"said {before}hunter22{ST}."))
    assert "unter22" not in clean


def test_a_sequence_alone_is_nothing_secret() -> None:
    said = "".join(SEQUENCES.values())
    assert Redaction(["hunter22"]).text(said) == said


IGNORABLE = "\u034f\u115f\u180e\u3164\ufe00\ufe0f\uffa0\U000e0001\U000e007f\U000e0100"


@pytest.mark.parametrize("mark", IGNORABLE)
def test_a_mark_that_no_font_shows_does_not_hide_a_secret(mark: str) -> None:
    assert Redaction(["hunter22"]).text(f"said h{mark}unter2{mark}2.") == "said ***."


def test_a_sigma_before_what_nobody_sees_is_no_sigma_at_the_end_of_a_word() -> None:
    assert Redaction(["hunter\u03c3\x07x"]).text("HUNTER\u03a3\x07X") == "***"


@pytest.mark.parametrize("secret", ["\x00***", "a***b", "abcd***", "****"])
def test_a_secret_that_holds_the_sign_for_one_ends_and_is_hidden(secret: str) -> None:
    spelled = secret[:2] + secret + secret[2:]
    clean = Redaction([secret]).text(spelled)
    assert secret not in clean
    assert "***" in clean
    assert Redaction([secret]).text("***") == "***"


def _took_s(act: Callable[[], object]) -> float:
    begun_s = time.process_time()
    act()
    return time.process_time() - begun_s


@pytest.mark.parametrize("secret", ["abcd", "1234", "aaaa", "z9-_", "(0)~", "Ab1?x"])
def test_a_short_secret_is_known_in_base64(secret: str) -> None:
    for before in ("", "x", "xy", "user:", "\xff\xfe"):
        for after in ("", "\n", "yz", "zzz"):
            for code in (base64.b64encode, base64.urlsafe_b64encode):
                coded = code(f"{before}{secret}{after}".encode("latin-1")).decode()
                clean = Redaction([secret]).text(f"said {coded} and more")
                assert "***" in clean, (before, after, coded)
                assert len(clean) < len("said  and more") + 3 + len(coded) - 3


def test_ordinary_words_are_not_taken_for_a_short_secret_in_base64() -> None:
    """YWJjZA is `abcd`; in other letters it is another text."""
    text = "ywjjza YWJJZA Ywjjz counters of swp1, iperf3 and base64"
    assert Redaction(["abcd"]).text(text) == text


OTHER_CASES = [
    ("\u017fecret99", "SECRET99"),
    ("secret99", "\u017fECRET99"),
    ("\u0131nternal1", "INTERNAL1"),
    ("\u00b5Volt99", "\u039cVOLT99"),
    ("K\u212aelvin1", "kkELVIN1"),
    ("stra\u00dfe99", "STRA\u1e9eE99"),
    ("\u03a3\u03af\u03c3\u03c5\u03c6\u03bf\u03c21", "\u03a3\u038a\u03a3\u03a5\u03a6\u039f\u03a31"),
]


@pytest.mark.parametrize(("secret", "told"), OTHER_CASES, ids=range(len(OTHER_CASES)))
def test_letters_that_share_a_capital_are_one(secret: str, told: str) -> None:
    for each in (told, told.lower(), told.swapcase(), json.dumps(told)[1:-1]):
        assert Redaction([secret]).text(f"x {each} y") == "x *** y"


def test_one_of_hardly_anything_but_backslashes_is_known_as_repr_writes_it_twice() -> None:
    secret = "\\\u00e9\\a"
    for told in (secret, repr(secret)[1:-1], repr(repr(secret))[2:-2], json.dumps(secret)[1:-1]):
        assert "***" in Redaction([secret]).text(f"x {told} y"), told
