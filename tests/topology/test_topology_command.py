"""`labtests topology`: what it prints, exit codes, mistakes with their place."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from labtests.__main__ import main

ROOT = Path(__file__).parents[2]
TESTBEDS, CASES = ROOT / "testbeds", ROOT / "docs/topology"
RING = str(TESTBEDS / "h3c-ring.yaml")


def run(*arguments):
    return CliRunner().invoke(main, ["topology", *map(str, arguments)], prog_name="labtests")


def told(*arguments):
    return json.loads(run(*arguments, "--json").stdout)


def test_a_ring_is_found_with_ports_priorities_and_remedies():
    shown = run(RING, "--check", "--failures", 0, "--no-convergence")
    assert shown.exit_code == 1
    assert "h3c-ring: 5 switches, 5 cables between them, 5 hosts" in shown.stdout
    around = " -> ".join(f"ring{n}:Twenty-FiveGigE1/0/55" for n in range(1, 6))
    assert f"priority 3: {around} -> back to ring1" in shown.stdout
    assert (
        "remedy: other routes for traffic that enters ring2 on port Twenty-FiveGigE1/0/56"
        in shown.stdout
    )
    assert "remedy: a second lossless priority, 4, for traffic" in shown.stdout


def test_json_has_the_same():
    found = told(RING, "--check", "--lossless", "4,5")
    assert (found["free"], found["sampled"], found["routing"]) == (False, False, "ecmp")
    assert [each["priorities"] for each in found["cycles"][:2]] == [[4, 5], [4, 5]]
    assert [each["sets"] for each in found["failures"]] == [10, 45]
    assert found["cycles"][0]["channels"][0] == (
        "ring1:Twenty-FiveGigE1/0/55 -> ring2:Twenty-FiveGigE1/0/56"
    )
    micro = next(each for each in found["cycles"] if each["updated"])
    assert micro["when"].startswith("during convergence after ")


@pytest.mark.parametrize("name", sorted(path.stem for path in TESTBEDS.glob("*.yaml")))
def test_of_the_testbeds_only_the_ring_has_one(name):
    found = told(TESTBEDS / f"{name}.yaml", "--check", "--failures", 1, "--no-convergence")
    assert found["free"] == (name != "h3c-ring")


def test_a_clos_up_down_is_free_and_says_under_which_conditions():
    shown = run(CASES / "clos.yaml", "--check", "--routing", "up-down")
    assert shown.exit_code == 0
    assert "1326 of links and switches: no cycle, proven: no packet goes up a tier" in shown.stdout
    assert "provided that every switch has a route to each host itself" in shown.stdout
    assert told(CASES / "clos.yaml", "--check", "--failures", 2, "--no-convergence")["failures"][1][
        "with_cycle"
    ] == 68  # fmt: skip


def test_two_spines_are_too_few_and_three_are_enough():
    options = ("--check", "--no-convergence")
    assert run(CASES / "two-spines.yaml", *options).exit_code == 1
    assert run(CASES / "leaf-spine.yaml", *options).exit_code == 0


def test_explicit_routes_of_a_case_count():
    shown = run(ROOT / "docs/cases/routing-loop.yaml", "--check", "--failures", 0)
    assert shown.exit_code == 0  # without PFC nothing waits
    assert "no cable between switches has PFC or link pause at both ends" in shown.stdout
    shown = run(ROOT / "docs/cases/deadlock.yaml", "--check", "--failures", 0, "--no-convergence")
    assert "priority 3: s1:s2 -> s2:s3 -> s3:s4 -> s4:s1 -> back to s1" in shown.stdout
    assert "and explicit ones" in shown.stdout


def test_the_picture_has_the_cycle_as_arrows(tmp_path):
    for file, arrows in ((RING, 10), (CASES / "leaf-spine.yaml", 0)):
        out = tmp_path / "a folder to make" / "out.svg"
        run(file, "--check", "--no-convergence", "--plot", out)
        text = out.read_text()
        assert text.count("<polygon") == arrows
        assert text.startswith("<svg")
        assert "http" not in text.replace("http://www.w3.org/2000/svg", "")


def test_a_picture_that_cannot_be_written_does_not_take_the_answer_with_it(tmp_path):
    (tmp_path / "file").write_text("")
    more = ["--failures", 0, "--no-convergence", "--plot", tmp_path / "file" / "x.svg"]
    shown = run(RING, *more)
    assert shown.exit_code == 2
    assert "1. steady state" in shown.stdout
    assert "cannot be written" in shown.stderr


def test_a_cycle_is_tried_and_its_cases_are_kept(tmp_path):
    case = tmp_path / "two.yaml"
    options = ("--check", "--failures", 0, "--prove", "--cases", tmp_path / "kept")
    text = (CASES / "two-spines.yaml").read_text()
    case.write_text(text.replace("rate_gbit_per_s: 100", "rate_gbit_per_s: 10"))
    shown = run(case, *options)
    assert "1. packet network: deadlocks under a load constructed for it" in shown.stdout
    assert "with the order of updates: all packets drain" in shown.stdout
    kept = {path.name for path in (tmp_path / "kept").iterdir()}
    assert {"1-load.yaml", "1-order.yaml", "1-up-down.yaml"} <= kept
    again = CliRunner().invoke(main, ["network", "run", str(tmp_path / "kept/1-load.yaml")])
    assert again.exit_code == 0


def test_random_loads_are_counted():
    found = told(CASES / "leaf-spine.yaml", "--check", "--no-convergence", "--loads", 1)
    assert (found["random_loads"], found["random_loads_locked"]) == (1, 0)


def mistaken(tmp_path, text, *options):
    file = tmp_path / "file.yaml"
    file.write_text(text)
    shown = run(file, "--check", *options)
    assert shown.exit_code == 2
    assert "Traceback" not in shown.output
    return shown.stderr.replace(f"{file}:", "")


CASE = (CASES / "two-spines.yaml").read_text()
LAB = (TESTBEDS / "two-leaves.yaml").read_text()
WRONG = {
    "an empty file": ("", "1:1: file: the file is empty"),
    "nothing known": ("a: 1\n", "neither a testbed (it has `devices`) nor a case"),
    "an unknown switch": (
        CASE.replace("[leaf0, spine0]", "[leaf0, spine9]"),
        'links[4].between[1]: "spine9" is not there',
    ),
    "a host without a link": (CASE.replace("h3: ", "h3: , h4: "), "hosts.h4: host h4 has no link"),
    "no switch": (
        "name: x\nduration_ms: 1\nhosts: {a: , b: }\nlinks:\n"
        "  - {between: [a, b], rate_gbit_per_s: 10, length_m: 1}\n"
        "flows:\n  - {source: a, target: b}\n",
        "3:1: hosts: there is no switch",
    ),
    "an unplugged host of a testbed": (
        "\n".join(line for line in LAB.splitlines() if "srv3:ens1f0np0" not in line).replace(
            "bystanders: [srv3]", "bystanders: [srv1]"
        ),
        "devices.srv3: host srv3 has no cable to a switch",
    ),
}


@pytest.mark.parametrize(("text", "said"), WRONG.values(), ids=WRONG)
def test_bad_input_is_a_sentence_with_its_place(tmp_path, text, said):
    assert said in mistaken(tmp_path, text)


def test_wrong_options_are_sentences(tmp_path):
    assert "no list of priorities" in mistaken(tmp_path, LAB, "--lossless", "9")
    assert "is for testbeds" in mistaken(tmp_path, CASE, "--lossless", "3")
    assert "--cases writes the cases of --prove" in mistaken(tmp_path, CASE, "--cases", tmp_path)
    ring = Path(RING).read_text()
    assert "joins two switches of tier 0" in mistaken(tmp_path, ring, "--routing", "up-down")
