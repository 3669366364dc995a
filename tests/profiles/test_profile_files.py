"""Profile files: what is refused, what is warned of, and where it stands."""

import json
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from labtests.__main__ import main
from labtests.core.errors import InventoryError
from labtests.network.tables import MIN_FRAME_BYTES, OVERHEAD_BYTES
from labtests.profile import json_schema, load
from labtests.profile.sense import remarks, rules

FOLDER = Path(__file__).parents[2] / "profiles"
EXAMPLES = sorted(FOLDER.glob("*.yaml"))

# what fires a rule: the keys that are changed in lossless-25g.yaml
FIRES = {
    "needs": {"trust": None},
    "ecn-order": {"ecn": [{"kmin_bytes": 400_000}]},
    "shares": {"scheduling": [20, 5, 5, 50, 10, 11, "strict", "strict"]},
    "egress-too-small": {"buffer": {"egress": {"share_cells": 50_000}}},
    "headroom-too-small": {"buffer": {"headroom_cells": 97}},
    "cnp-elsewhere": {"cnp": {"dscp": 40}},
    "twice": {"lossless": [3, 3]},
    "curves-collide": {
        "maps": {"queue_of_priority": [0, 1, 2, 3, 3, 5, 6, 7]},
        "ecn": [
            {},
            {"priorities": [4], "kmin_bytes": 9000, "kmax_bytes": 10_000, "pmax_percent": 1},
        ],
    },
    "cnp-lossless": {"lossless": [3, 6]},
    "ecn-above-pfc": {"ecn": [{"kmin_bytes": 300_000}]},
    "lossless-without-ecn": {"lossless": [3, 4]},
    "all-lossless": {"lossless": list(range(8))},
    "control-lossless": {"lossless": [3, 7]},
    "nothing-leads-there": {"maps": {"dscp": [{"dscp": list(range(24, 32)), "priority": 0}]}},
    "queue-is-shared": {"maps": {"queue_of_priority": [0, 1, 2, 3, 3, 5, 6, 7]}},
    "cnp-waits": {"scheduling": [20, 5, 5, 50, 10, 5, 5, "strict"]},
    "data-is-strict": {"scheduling": [50, 10, 10, "strict", 10, 20, "strict", "strict"]},
    "kmin-below-frames": {"ecn": [{"kmin_bytes": 3000}]},
    "kmax-above-queue": {"ecn": [{"kmax_bytes": 20_000_000}]},
    "jumbo-headroom": {"mtu_bytes": 9000},
    "alpha-decays-between-cnps": {"dcqcn": {"notification_point": {"cnp_interval_us": 55}}},
    "marked-but-not-heard": {"dcqcn": {"reaction_point": {"priorities": [4]}}},
}


def told_of(tmp_path, **keys):
    """The errors of a profile of these keys alone."""
    path = tmp_path / "own.yaml"
    path.write_text(yaml.safe_dump({"name": "own"} | keys))
    try:
        load(path)
    except InventoryError as error:
        return str(error)
    return ""


def test_a_profile_may_be_of_the_mtu_alone(tmp_path):
    assert told_of(tmp_path, mtu_bytes=9000) == ""
    found = load(FOLDER / "mtu-9000.yaml").form
    assert (found.lossless, found.trust, found.rate_gbit_per_s) == ([], None, None)


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({}, "sets nothing"),
        ({"lossless": [3]}, "needs rate_gbit_per_s and mtu_bytes and trust beside it"),
        ({"mtu_bytes": 1500, "buffer": {"cable_m": 5.0}}, "needs rate_gbit_per_s beside it"),
        ({"asymmetric_pfc": True}, "needs lossless beside it"),
        (
            {"rate_gbit_per_s": 25, "buffer": {"cable_m": 5, "lossless_memory_percent": 50}},
            "buffer.lossless_memory_percent: needs lossless beside it",
        ),
        ({"cnp": {"dscp": 48, "priority": 6}}, "needs trust beside it"),
        ({"maps": {"dscp": [{"dscp": [26], "priority": 3}]}}, "needs trust beside it"),
    ],
)
def test_what_a_key_needs_beside_it_is_said(tmp_path, keys, says):
    assert says in told_of(tmp_path, **keys)


def changed(base, by):
    if isinstance(base, dict) and isinstance(by, dict):
        return base | {key: changed(base.get(key), value) for key, value in by.items()}
    if isinstance(base, list) and isinstance(by, list) and all(isinstance(v, dict) for v in by):
        return [changed(base[n] if n < len(base) else {}, value) for n, value in enumerate(by)]
    return by


def written(tmp_path, by):
    tree = yaml.safe_load((FOLDER / "lossless-25g.yaml").read_text())
    path = tmp_path / "profile.yaml"
    path.write_text(yaml.safe_dump(changed(tree, by), sort_keys=False))
    return path


def said(path):
    """(severity, line) of everything that loading this file says."""
    try:
        return [("warning", line) for line in load(path).warnings]
    except InventoryError as error:
        return [("error", line) for line in error.mistakes]


def test_every_rule_has_a_case_here_and_nothing_else_has():
    assert {name for _, name, _ in rules()} == set(FIRES)
    assert all(meaning for _, _, meaning in rules())


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_the_examples_fire_no_rule(example):
    assert remarks(load(example).form) == []


@pytest.mark.parametrize("rule", FIRES)
def test_a_rule_fires_and_says_where(rule, tmp_path):
    severity = {name: severity for severity, name, _ in rules()}[rule]
    path = written(tmp_path, FIRES[rule])
    lines = [line for kind, line in said(path) if kind == severity]
    if severity == "warning":
        lines = [line for line in lines if line.endswith(f"({rule})")]
    assert lines, said(path)
    file, line, column, _ = lines[0].split(":", 3)
    assert (file, int(line) > 1, int(column) > 0) == (str(path), True, True)


def test_all_mistakes_are_said_at_once_each_at_its_place(tmp_path):
    by = {"lossles": [3], "scheduling": [0] * 8, "ecn": [{"kmin_bytes": 1.5}], "trust": "dcsp"}
    lines = "\n".join(line for _, line in said(written(tmp_path, by)))
    assert 'unknown key "lossles": did you mean lossless?' in lines
    assert "scheduling[0]: must be a share in percent (1 to 100) or strict" in lines
    assert "ecn[0].kmin_bytes: must be a whole number, not the number 1.5" in lines
    assert "trust: must be dscp or dot1p; did you mean dscp?" in lines


def test_the_limits_are_those_of_the_notes(tmp_path):
    """S23: 98 cells for 25G and 15 m; one less is refused, and 98 is not."""
    assert said(written(tmp_path, {"buffer": {"headroom_cells": 98}})) == []
    [(severity, line)] = said(written(tmp_path, {"buffer": {"headroom_cells": 97}}))
    assert severity == "error"
    assert "buffer.headroom_cells: must be at least 98 cells at 25 Gbit/s and 15 m (S23)" in line


def test_hostile_yaml_is_refused(tmp_path):
    path = tmp_path / "bomb.yaml"
    path.write_text("a: &a [1]\nb: &b [*a,*a]\n" + "<<: {lossless: [3]}\npassword: geheim\n")
    text = "\n".join(line for _, line in said(path))
    assert "merge keys" in text
    assert "geheim" not in text


def test_the_schema_knows_every_key():
    schema = json_schema()
    tree = yaml.safe_load((FOLDER / "lossless-25g.yaml").read_text())
    assert set(tree) <= set(schema["properties"])
    assert schema["additionalProperties"] is False


def test_the_command_checks_and_prints_the_schema(tmp_path):
    runner = CliRunner()
    good = runner.invoke(main, ["profile", "check", *map(str, EXAMPLES)])
    assert (good.exit_code, good.output.count("OK ")) == (0, len(EXAMPLES))
    bad = runner.invoke(main, ["profile", "check", str(written(tmp_path, FIRES["shares"]))])
    assert (bad.exit_code, "101 percent" in bad.output) == (2, True)
    warned = runner.invoke(main, ["profile", "check", str(written(tmp_path, {"lossless": [3, 6]}))])
    assert (warned.exit_code, "warning: " in warned.output) == (0, True)
    assert json.loads(runner.invoke(main, ["profile", "schema"]).output) == json_schema()


def test_the_formulas_count_frames_as_the_packet_network_does():
    from labtests.core import headroom

    assert (headroom.MIN_FRAME_BYTES, headroom.OVERHEAD_BYTES) == (MIN_FRAME_BYTES, OVERHEAD_BYTES)


def test_a_wrong_value_does_not_hide_what_other_keys_have_wrong(tmp_path):
    curve = {"priorities": [3], "kmin_bytes": 200, "kmax_bytes": 100, "pmax_percent": 20}
    told = told_of(tmp_path, scheduling={0: 20}, ecn=[curve], buffer={"cable_m": 5}, lossless=[3])
    assert "scheduling: must be a list, not a mapping" in told
    assert "ecn[0].kmin_bytes: must be below kmax_bytes (100)" in told
    assert "lossless: needs rate_gbit_per_s and mtu_bytes and trust beside it" in told


def test_what_hangs_on_a_wrong_value_is_not_judged(tmp_path):
    told = told_of(
        tmp_path, rate_gbit_per_s="fast", lossless=[3], mtu_bytes=1500, trust="dscp",
        buffer={"cable_m": 5, "headroom_cells": 1}, maps=[], cnp={"dscp": 40, "priority": 6},
    )  # fmt: skip
    assert "rate_gbit_per_s: must be a number" in told
    assert "maps: must be a mapping" in told
    assert len(told.splitlines()) == 2


def test_a_key_that_is_missing_in_a_part_hides_no_other_part(tmp_path):
    told = told_of(tmp_path, ecn=[{"priorities": [3]}], lossless=[3, 3], junk=1)
    assert "ecn[0].kmin_bytes: is missing" in told
    assert "lossless: priority 3 is listed 2 times" in told
    assert 'unknown key "junk"' in told


def test_a_profile_of_which_all_is_wrong_sets_something(tmp_path):
    told = told_of(tmp_path, mtu_bytes="long")
    assert len(told.splitlines()) == 1
    assert "mtu_bytes: must be a whole number" in told
