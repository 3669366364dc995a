"""The grammar of mlnx_qos: every state it can print is read back, every damage is noticed."""

from dataclasses import replace

import pytest
from connectx_host import TRANSCRIPTS, recording
from hypothesis import given, settings
from hypothesis import strategies as st

from labtests.capabilities.nic import NicQos, TrafficClass
from labtests.capabilities.records import TrustSetting
from labtests.core.errors import CommandRejected, DeviceError, UnreadableOutput
from labtests.core.units import BitsPerSecond, Bytes
from labtests.drivers.connectx.mlnx_qos import parse_mlnx_qos
from labtests.transport.protocol import Reply

WHOLE = [
    name
    for name in sorted(file.stem for file in TRANSCRIPTS.glob("mlnx_qos--*.txt"))
    if (TRANSCRIPTS / f"{name}.expected").read_text().startswith("dcbx_mode")
]
WORDS = {"dot1p": "pcp", "dscp": "dscp", "none": "none"}
WARNING = "****** WARNING: lldpad service is running and may overwrite your settings ******\n\n"


def reply(text: str, status: int | None = 0) -> Reply:
    return Reply(device="ServerA", command="mlnx_qos -i eth2", text=text, status=status)


def test_there_are_recordings_to_damage():
    assert len(WHOLE) >= 9


# -- damage ---------------------------------------------------------------------------------------


def damaged(text: str) -> NicQos | None:
    try:
        return parse_mlnx_qos(reply(text))
    except UnreadableOutput:
        return None


@pytest.mark.parametrize("name", WHOLE)
def test_a_line_that_is_gone_is_noticed(name):
    text = recording(name).text
    whole = parse_mlnx_qos(reply(text))
    lines = text.splitlines(keepends=True)
    for number, line in enumerate(lines):
        # blank lines and the kernel's own skprio map carry nothing that we keep
        if line.strip() and "skprio" not in line:
            found = damaged("".join(lines[:number] + lines[number + 1 :]))
            assert found != whole, f"line {number + 1} could go unnoticed: {line!r}"


@pytest.mark.parametrize("name", WHOLE)
def test_a_line_that_is_there_twice_is_noticed(name):
    text = recording(name).text
    lines = text.splitlines(keepends=True)
    for number, line in enumerate(lines):
        if line.strip() and "skprio" not in line:
            found = damaged("".join([*lines[: number + 1], *lines[number:]]))
            assert found is None, f"line {number + 1} could appear twice: {line!r}"


@pytest.mark.parametrize("name", WHOLE)
def test_a_digit_that_changed_is_noticed(name):
    text = recording(name).text
    whole = parse_mlnx_qos(reply(text))
    for place, letter in enumerate(text):
        line = text[text.rfind("\n", 0, place) + 1 :].split("\n", 1)[0]
        if letter.isdigit() and "skprio" not in line and "dscp2prio" not in line:
            other = "7" if letter != "7" else "1"
            found = damaged(text[:place] + other + text[place + 1 :])
            assert found != whole, f"a changed digit went unnoticed in {line!r}"


@pytest.mark.parametrize("name", WHOLE)
def test_an_output_cut_anywhere_is_refused_or_lacks_only_its_last_section(name):
    text = recording(name).text.rstrip()
    whole = parse_mlnx_qos(reply(text + "\n"))
    for end in range(len(text)):
        assert damaged(text[:end].rstrip("\n")) is None
        found = damaged(text[:end].rstrip() + "\n")
        # a tool that printed no traffic classes at all is possible; half of them are not
        allowed = (None, replace(whole, traffic_classes=None))
        without_map = replace(whole, traffic_classes=None, priority_to_buffer=None)
        if whole.receive_buffer_bytes is None:
            allowed += (without_map,)
        assert found in allowed, f"cut after {text[:end][-30:]!r}"


@pytest.mark.parametrize("name", WHOLE)
def test_a_new_line_anywhere_is_refused(name):
    lines = recording(name).text.splitlines(keepends=True)
    for number in range(len(lines) + 1):
        text = "".join([*lines[:number], "hw offload: on\n", *lines[number:]])
        with pytest.raises(UnreadableOutput, match=r"is unrecognised: 'hw offload: on'"):
            parse_mlnx_qos(reply(text))


@pytest.mark.parametrize("gone", ["DCBX mode", "Priority trust state", "Cable len"])
def test_of_the_three_first_lines_all_are_there_or_none(gone):
    lines = recording("mlnx_qos--trust-pcp").text.splitlines(keepends=True)
    with pytest.raises(UnreadableOutput, match="incomplete: of its first lines only"):
        parse_mlnx_qos(reply("".join(line for line in lines if gone not in line)))


def test_two_outputs_in_one_are_refused():
    text = recording("mlnx_qos--lab-a").text
    with pytest.raises(UnreadableOutput, match="out of order"):
        parse_mlnx_qos(reply(text + text))


@pytest.mark.parametrize(
    ("before", "after", "problem"),
    [
        ("prio:3 dscp:31,", "prio:3 dscp:64,", "DSCP 64 is not a DSCP"),
        ("prio:3 dscp:31,", "prio:3 dscp:00,", "DSCP 0 has two priorities"),
        ("prio:3 dscp:31,", "prio:8 dscp:31,", "unrecognised"),
        ("prio:3 dscp:31,", "prio:3 dscp:3,", "unrecognised"),
        ("enabled 0 0 0 1 0 0 0 0", "enabled 0 0 0 1 0 0 0", "unrecognised"),
        ("enabled 0 0 0 1 0 0 0 0", "enabled 0 0 0 2 0 0 0 0", "unrecognised"),
        ("priority 0 1 2 3 4 5 6 7", "priority 7 6 5 4 3 2 1 0", "unrecognised"),
        ("tc: 2 ratelimit: unlimited", "tc: 2 ratelimit: -1 Gbps", "unrecognised"),
        ("tc: 2 ratelimit", "tc: 3 ratelimit", "appears twice"),
        ("tsa: vendor\npriority: 2", "tsa: \npriority: 2", "unrecognised"),
        ("tsa: vendor\npriority: 2", "tsa: ets\npriority: 2", "unrecognised"),
        ("tc: 1 ratelimit: unlimited, tsa: vendor\n", "", "before any traffic class"),
        ("priority: 2", "priority: 3", "priorities"),
    ],
)
def test_a_figure_that_cannot_be_true_is_refused(before, after, problem):
    text = recording("mlnx_qos--lab-a").text
    assert before in text
    with pytest.raises(UnreadableOutput, match=problem):
        parse_mlnx_qos(reply(text.replace(before, after, 1)))


# -- what this kernel cannot tell -----------------------------------------------------------------


def test_a_kernel_without_trust_and_buffers_is_read_without_them():
    text = (
        "Priority trust state is not supported on your system\n"
        "Buffers commands are not supported on your system\n"
        + recording("mlnx_qos--no-buffers")
        .text.replace("state: dscp", "state: none")
        .replace("dscp2prio mapping:\n", "")
    )
    kept = "".join(line for line in text.splitlines(True) if "dscp:" not in line)
    found = parse_mlnx_qos(reply(kept))
    assert found.trust == TrustSetting(source="none")
    assert found.receive_buffer_bytes is found.priority_to_buffer is found.dscp_to_priority is None


@pytest.mark.parametrize("status", [0, 1, None])
def test_without_ets_the_tool_does_not_know_pfc_either(status):
    """Its old versions go on after this line, with PFC shown as all 0 because it was not read."""
    text = "ETS features are not supported on your system\n" + recording("mlnx_qos--lab-a").text
    with pytest.raises(CommandRejected, match="ETS features"):
        parse_mlnx_qos(reply(text, status))


@pytest.mark.parametrize("status", [1, None])
def test_a_trust_command_that_failed_is_not_an_unreadable_output(status):
    with pytest.raises(CommandRejected, match="Priority trust state is not supported"):
        parse_mlnx_qos(reply("Priority trust state is not supported on your system\n", status))


def test_without_rate_limits_the_classes_have_no_numbers_and_are_not_guessed():
    text = recording("mlnx_qos--lab-a").text
    for tc in range(8):
        text = text.replace(f"tc: {tc} ratelimit: unlimited, tsa: ", "")
    with pytest.raises(UnreadableOutput, match="has no number"):
        parse_mlnx_qos(reply(text))
    found = parse_mlnx_qos(reply("Rate limit is not supported on your system!\n" + text))
    assert found.traffic_classes is None
    assert found.pfc_enabled[3]


# -- every state ------------------------------------------------------------------------


def render(qos: NicQos, order: list[int], *, tab: str = "\t") -> str:
    """As the tool prints a state. `order` is the order of the traffic classes."""
    out = [WARNING.rstrip("\n"), ""] if qos.lldpad_warning else []
    out.append(f"DCBX mode: {qos.dcbx_mode}")
    assert qos.trust is not None
    out.append(f"Priority trust state: {WORDS[qos.trust.source]}")
    if qos.dscp_to_priority is not None:
        out.append("dscp2prio mapping:")
        for priority in range(8):
            mine = [f"{dscp:02}," for dscp, p in qos.dscp_to_priority if p == priority]
            eights = ["".join(mine[n : n + 8]) for n in range(0, len(mine), 8)]
            out += [f"{tab}prio:{priority} dscp:{values}" for values in eights]
    if qos.default_priorities is not None:
        out.append("default priority:")
        out += [f"{tab}prio:{priority}" for priority in qos.default_priorities]
    if qos.receive_buffer_bytes is not None:
        sizes = "".join(f"{size}," for size in qos.receive_buffer_bytes)
        limit = "" if qos.max_buffer_bytes is None else f"max_buffer_size={qos.max_buffer_bytes}"
        out.append(f"Receive buffer size (bytes): {sizes}{limit}")
    out += [f"Cable len: {qos.cable_length_m}", "PFC configuration:"]
    out.append(f"{tab}priority    0   1   2   3   4   5   6   7")
    out.append(f"{tab}enabled     " + "".join(f"{int(flag)}   " for flag in qos.pfc_enabled))
    if qos.priority_to_buffer is not None:
        out.append(f"{tab}buffer      " + "".join(f"{b}   " for b in qos.priority_to_buffer))
    for number in order:
        out += rendered_class(next(t for t in qos.traffic_classes or () if t.number == number), tab)
    return "\n".join(out) + "\n"


def rendered_class(tc: TrafficClass, tab: str) -> list[str]:
    limit = tc.ratelimit_bits_per_s
    shown = "unlimited" if limit is None else f"{limit / 1e9:.1f} Gbps"
    share = "" if tc.bandwidth_percent is None else f", bw: {tc.bandwidth_percent}%"
    title = f"tc: {tc.number} ratelimit: {shown}, tsa: {tc.algorithm}{share}"
    return [title, *(f"{tab} priority:  {priority}" for priority in tc.priorities)]


@st.composite
def traffic_classes(draw: st.DrawFn) -> tuple[TrafficClass, ...]:
    class_of = draw(st.lists(st.integers(0, 7), min_size=8, max_size=8))
    numbers = sorted({*class_of, *draw(st.sets(st.integers(0, 7)))})  # -a shows empty ones too
    found = []
    for number in numbers:
        algorithm = draw(st.sampled_from(["ets", "strict", "vendor", "unknown"]))
        limit = draw(st.none() | st.integers(1, 4000))
        found.append(
            TrafficClass(
                number=number,
                ratelimit_bits_per_s=None if limit is None else BitsPerSecond(limit / 10 * 1e9),
                algorithm=algorithm,
                bandwidth_percent=draw(st.integers(0, 100)) if algorithm == "ets" else None,
                priorities=tuple(p for p in range(8) if class_of[p] == number),
            )
        )
    return tuple(found)


@st.composite
def states(draw: st.DrawFn) -> NicQos:
    eight = st.lists(st.integers(0, 7), min_size=8, max_size=8).map(tuple)
    source = draw(st.sampled_from(["dscp", "dot1p", "none"]))
    mapped = st.dictionaries(st.integers(0, 63), st.integers(0, 7), min_size=1)
    sizes = draw(st.none() | st.lists(st.integers(0, 2**40), min_size=8, max_size=8))
    return NicQos(
        dcbx_mode=draw(st.sampled_from(["OS controlled", "Firmware controlled"])),
        trust=TrustSetting(source=source),
        dscp_to_priority=tuple(sorted(draw(mapped).items())) if source == "dscp" else None,
        default_priorities=draw(st.none() | st.lists(st.integers(0, 7)).map(tuple)),
        receive_buffer_bytes=None if sizes is None else tuple(Bytes(size) for size in sizes),
        max_buffer_bytes=None if sizes is None else draw(st.none() | st.integers(0, 2**40)),
        cable_length_m=draw(st.integers(0, 65535)),
        pfc_enabled=tuple(draw(st.lists(st.booleans(), min_size=8, max_size=8))),
        priority_to_buffer=draw(st.none() | eight) if sizes is None else draw(eight),
        traffic_classes=draw(st.none() | traffic_classes()),
        lldpad_warning=draw(st.booleans()),
    )


@settings(max_examples=150, deadline=None)
@given(states(), st.randoms(use_true_random=False), st.sampled_from(["\t", "        ", ""]))
def test_every_state_that_the_tool_can_print_is_read_as_it_is(qos, random, tab):
    order = [tc.number for tc in qos.traffic_classes or ()]
    random.shuffle(order)
    assert parse_mlnx_qos(reply(render(qos, order, tab=tab))) == qos


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=300))
def test_no_text_makes_the_parser_fail_in_an_unplanned_way(text):
    with pytest.raises(DeviceError):
        parse_mlnx_qos(reply(text))
