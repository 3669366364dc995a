"""Every recording of a Cumulus switch is read as its .expected says, or refused as it says."""

import json
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from cumulus_recordings import ALL, PARSERS
from platform_recordings import label, part_of

from labtests.core.errors import CommandRejected, LabError, UnreadableOutput
from labtests.drivers.cumulus import driver
from labtests.drivers.cumulus.egress import curves_of, shares_of
from labtests.drivers.cumulus.maps import mapped
from labtests.drivers.cumulus.pfc import pausing
from labtests.drivers.cumulus.profiles import Unclear
from labtests.drivers.cumulus.session import expect_applied
from labtests.transport.protocol import Reply

READ = [recording for recording in ALL.recordings if ALL.is_read(recording)]
INSTALLED = PARSERS["qos"](ALL.load("qos.installed"))


def answer(shown: Any, command: str = "nv show interface swp1 counters qos -o json") -> Reply:
    text = shown if isinstance(shown, str) else json.dumps(shown)
    return Reply(device="SN2700", command=command, text=f"{text}\n")


@pytest.mark.parametrize("recording", ALL.recordings, ids=label)
def test_a_recording_says_what_is_expected_of_it(recording):
    assert ALL.rendered(recording) == recording.with_suffix(".expected").read_text(encoding="utf-8")


def test_every_parser_has_a_recording_and_every_expectation_too():
    ALL.expect_complete()


@pytest.mark.parametrize("recording", READ, ids=label)
def test_a_recording_is_refused_by_every_other_parser(recording):
    reply, own = ALL.load(recording), ALL.parser_of(recording)
    for name, parse in PARSERS.items():
        if parse is own or name == "lldp" or {name, recording.name.split(".")[0]} == {"link"}:
            continue  # of interfaces without a neighbour LLDP says nothing
        with pytest.raises(UnreadableOutput) as refusal:
            parse(reply)
        assert refusal.value.remedy, name


@pytest.mark.parametrize("recording", READ, ids=label)
def test_a_line_that_is_new_is_refused_wherever_it_stands(recording):
    ALL.expect_new_line_refused(recording, "Frobnicated pkts : 7 of 9")


ROCE = [recording for recording in READ if recording.name.startswith("roce")]


@pytest.mark.parametrize("recording", ROCE, ids=label)
def test_of_roce_mode_without_a_line_a_part_is_read_or_nothing(recording):
    reply, parse = ALL.load(recording), PARSERS[recording.name.split(".")[0]]
    whole, lines = parse(reply), reply.text.splitlines(keepends=True)
    for number, line in enumerate(lines):
        less = replace(reply, text="".join([*lines[:number], *lines[number + 1 :]]))
        with suppress(UnreadableOutput):
            assert part_of(parse(less), whole), line


@pytest.mark.parametrize(
    ("told", "instead"),
    [
        ("mode                lossless     lossless", "mode                lossless     lossy"),
        ("mode                lossless     lossless", "mode                lossy        lossy"),
        ("enable                           on", "enable              off          off"),
        ("pfc-priority      3", "pfc-priority      -"),
        ("rx-enabled        enabled", "rx-enabled        perhaps"),
        ("enabled-tc        0,3", "enabled-tc        0-3"),
        ("3  3    24,25,26", "3  3    24,25,27"),
        ("3  3            3              DWRR-50%", "3  3            3              DWRR-101%"),
        ("4  4            0              DWRR-50%", "4  4            0              DWRR-49%"),
        ("4  4            0  ", "4  3            0  "),
        ("50%   3 ", "50%   3,4 "),
        ("trust-mode        pcp,dscp", "trust-mode        port"),
        ("No Data", "No Dat"),
        ("Exception List\n=================\nNo Data\n", ""),
        ("operational", "operatioual"),
        ("  pfc-priority", "    pfc-priority"),
        ("RoCE pool config", "RoCE pool confit"),
        ("traffic-class  scheduler-weight", "traffic-class  scheduler"),
    ],
)
def test_what_contradicts_itself_or_is_new_in_roce_mode_is_refused(told, instead):
    reply = ALL.load("roce.lossless")
    assert told in reply.text
    with pytest.raises(UnreadableOutput) as refused:
        PARSERS["roce"](replace(reply, text=reply.text.replace(told, instead)))
    assert refused.value.remedy


def test_a_rounded_threshold_that_is_not_the_guide_s_is_no_number():
    reply = ALL.load("roce.lossless")
    other = replace(reply, text=reply.text.replace("146.48 KB", "146.49 KB"))
    leaves = PARSERS["roce"](other)["switch"].told["congestion-control"]
    with pytest.raises(Unclear, match=r"min-threshold is '146\.49 KB', and no whole number"):
        curves_of(leaves)
    (first, second), _ = curves_of(PARSERS["roce"](reply)["switch"].told["congestion-control"])
    assert {first.low_limit, second.low_limit} == {150_000}


def test_a_switch_as_installed_means_what_the_guide_says():
    default = {feature: INSTALLED[feature]["default-global"] for feature in INSTALLED
               if "default-global" in INSTALLED[feature]}  # fmt: skip
    curves, red = curves_of(default["congestion-control"])
    (curve,) = curves
    assert (curve.queue, curve.low_limit, curve.high_limit) == (0, 150_000, 1_500_000)
    assert (curve.drop_probability_percent, curve.ecn, red) == (100, True, frozenset())
    assert shares_of(default["egress-scheduler"]) == (12, 13) * 4
    assert mapped(default["mapping"]) == ("l2", tuple(n // 8 for n in range(64)))
    assert pausing(INSTALLED["pfc"].get("default-global", {})) == frozenset()


# -- hostile answers -------------------------------------------------------------------------------

QOS = json.loads(ALL.load("qos.installed").text)


def with_profile(feature: str, name: str, profile: Any) -> Reply:
    return answer({**QOS, feature: {name: profile}}, "nv show qos --applied -o json")


@pytest.mark.parametrize(
    "wrong",
    [
        [],
        7,
        "true",
        {"egress-queue-stats": []},
        {"egress-queue-stats": {"3": 7}},
        {"egress-queue-stats": {"3": {"tx-frames": -1}}},
        {"egress-queue-stats": {"3": {"tx-frames": 1.5}}},
        {"egress-queue-stats": {"3": {"tx-frames": True}}},
        {"egress-queue-stats": {"3": {"tx-frames": None}}},
        {"egress-queue-stats": {"3": {"tx-frames": "75.19 KB"}}},
        {"egress-queue-stats": {"3": {"tx-frames": "٣"}}},
        {"egress-queue-stats": {"3": {"tx-frames": str(2**64)}}},
        {"egress-queue-stats": {"3": {"tx-frames": 2**64}}},
        {"egress-queue-stats": {"3": {"tx-frobnications": 1}}},
        {"egress-queue-stats": {"03": {}}},
        {"egress-queue-stats": {"16": {}}},
        {"egress-queue-stats": {}, "frobnication-stats": {}},
        {"egress-queue-stats": {}, "port-stats": {"up-stats": {}}},
        "[" * 100_000,
        '{"egress-queue-stats": {"3": {"tx-frames": ' + "9" * 5000 + "}}}",
    ],
    ids=range(20),
)
def test_what_is_no_count_is_refused_with_device_command_and_remedy(wrong):
    with pytest.raises(UnreadableOutput) as refused:
        PARSERS["counters"](answer(wrong))
    assert refused.value.device == "SN2700"
    assert refused.value.command.startswith("nv show interface swp1")
    assert refused.value.remedy


@pytest.mark.parametrize("most", [2**64 - 1, str(2**64 - 1)])
def test_a_counter_has_64_bits(most):
    told = PARSERS["counters"](answer({"egress-queue-stats": {"3": {"tx-bytes": most}}}))
    assert told["egress-queue-stats"]["3"]["tx-bytes"] == 2**64 - 1


@pytest.mark.parametrize(
    ("feature", "name", "profile"),
    [
        ("pfc", "-rf", {}),
        ("pfc", "a b", {}),
        ("pfc", "$(reboot)", {}),
        ("pfc", "x" * 129, {}),
        ("pfc", "x\n", {}),
        ("pfc", "p", {"switch-priority": {"; reboot": {}}}),
        ("pfc", "p", {"tx": "enable; reboot"}),
        ("pfc", "p", {"tx": ["enable"]}),
        ("pfc", "p", {"tx": None}),
        ("pfc", "p", {"a": {"b": {"c": {"d": {"e": {"f": {"g": {"h": {"i": 1}}}}}}}}}),
        ("mapping", "p", {"dscp": {str(n): {"switch-priority": 1} for n in range(9999)}}),
    ],
)
def test_a_word_that_could_go_into_a_command_is_checked(feature, name, profile):
    with pytest.raises(UnreadableOutput) as refused:
        PARSERS["qos"](with_profile(feature, name, profile))
    assert refused.value.device == "SN2700"


def test_an_answer_of_too_many_parts_is_refused():
    with pytest.raises(UnreadableOutput, match="more than 600000 are not read"):
        PARSERS["qos"](answer({"qos": {str(n): {} for n in range(200_000)}}))


@pytest.mark.parametrize(
    ("means", "leaves"),
    [
        (pausing, {("switch-priority", "8"): ""}),
        (pausing, {("switch-priority", "3"): "", ("tx",): "maybe"}),
        (pausing, {("switch-priority", "3"): "", ("tx",): "disable"}),
        (curves_of, {("traffic-class", "3", "min-threshold"): "many"}),
        (curves_of, {("traffic-class", "3", "min-threshold"): "2000000"}),
        (curves_of, {("traffic-class", "9", "ecn"): "enable"}),
        (curves_of, {("traffic-class", "3", "probability"): "101"}),
        (shares_of, {}),
        (shares_of, {("traffic-class", "0", "mode"): "wfq"}),
        (shares_of, {("traffic-class", "0", "bw-percent"): "101"}),
        (mapped, {}),
        (mapped, {("trust",): "l3", ("dscp", "64", "switch-priority"): "1"}),
        (mapped, {("trust",): "l3", ("dscp", "6", "switch-priority"): "8"}),
    ],
)
def test_a_profile_that_cannot_be_is_not_taken_for_another_one(means, leaves):
    with pytest.raises(Unclear) as refused:
        means(leaves)
    assert refused.value.remedy


def test_a_revision_that_waits_to_be_confirmed_is_undone_by_itself():
    """Fields beside `state` are some public programs', and not read."""
    told = {"1": {"state": "applied"}, "7": {"state": "confirm", "message": "x"}, "startup": {}}
    with pytest.raises(UnreadableOutput, match="should be a word"):
        list(driver.parse_revisions(answer(told)))
    del told["startup"]
    (sentence,) = driver.parse_revisions(answer(told))
    assert sentence.startswith("revision 7 may be undone by itself, unless confirmed, in a run")


def test_a_pending_line_is_a_line_of_nv():
    with pytest.raises(UnreadableOutput, match="no `nv set`"):
        PARSERS["pending"](answer("- set:\n    system: {}"))
    assert PARSERS["pending"](answer("{}")) == ()


@pytest.mark.parametrize(
    "said",
    [
        "Invalid config [rev_id: 4]\n  Config invalid at interface.swp1.link.breakout: '4x10G' "
        "is not of type 'object'",
        "Error: Ambiguous Command:\n  set interface\n  show interface",
        "created [rev_id: 2]",
        "",
    ],
)
def test_a_revision_counts_when_the_switch_says_applied(said):
    with pytest.raises(CommandRejected) as refused:
        expect_applied([answer(said, "nv config apply -y")])
    assert refused.value.remedy
    expect_applied([answer("created [rev_id: 2]\napplied [rev_id: 2]")])
    expect_applied([answer("applied_and_saved [rev_id: 2]")])


@pytest.mark.parametrize(
    ("shown", "version"),
    [
        ({"build": "Cumulus Linux 5.5.0", "hostname": "leaf01"}, "5.5.0"),
        ({"product-name": "Cumulus Linux", "product-release": "5.11.0"}, "5.11.0"),
    ],
)
def test_the_version_is_read_in_the_words_of_any_release(shown, version):
    assert driver.parse_version(answer(shown)) == {"cumulus": version}
    for wrong in ({}, {"build": "Frobnix 7"}, {"build": 5}):
        with pytest.raises(LabError):
            driver.parse_version(answer(wrong))


def test_two_neighbours_at_one_port_are_no_cable():
    two = {"swp1": {"lldp": {"neighbor": {"a": {}, "b": {}}}}}
    with pytest.raises(UnreadableOutput, match="two neighbours"):
        driver.parse_lldp(answer(two))
    assert driver.parse_lldp(answer({"eth0": two["swp1"]})) == ()
