"""The labs that `make healthy` draws: valid, repeatable, consistent, and unlike each other."""

from dataclasses import replace
from random import Random

import pytest
from healthy import Job, Kept, Told, kept_or_run, seeds
from labs import SHAPES, dscp_map, made

from labtests.experiment import roles_of
from labtests.inventory import load


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
@pytest.mark.parametrize("seed", [1, 2, 30])
def test_each_is_a_testbed_with_an_incast_of_the_speeds_of_its_shape(shape, seed, tmp_path):
    lab = made(shape, seed)
    file = tmp_path / "lab.yaml"
    file.write_text(lab.text)
    found = roles_of(load(file))
    speeds = [role.link_bits_per_s / 1e9 for role in found.senders]
    assert speeds == [gbit for _, gbit in shape.senders]
    assert found.line_bits_per_s == shape.receiver[1] * 10**9
    assert len({role.switch.device for role in found.senders} | {found.bottleneck.device}) <= len(
        shape.switches
    )
    assert all(fault["kind"] in ("mtu", "dscp-map") for fault in lab.faults)


def test_a_seed_draws_the_same_lab_again_and_another_one_another():
    assert all(made(shape, 3) == made(shape, 3) for shape in SHAPES)
    assert all(made(shape, 3).text != made(shape, 4).text for shape in SHAPES)


def test_there_are_twelve_and_more_and_they_are_what_the_claim_says():
    assert len({shape.name for shape in SHAPES}) >= 12
    assert {gbit for shape in SHAPES for _, gbit in shape.senders} >= {1, 10, 25, 40, 100, 400}
    assert {len(shape.senders) for shape in SHAPES} >= {2, 3, 4, 5, 8, 32}
    assert {shape.mtu_bytes for shape in SHAPES} == {1500, 4200, 9000}
    assert {len(shape.switches) for shape in SHAPES} == {1, 2, 3, 5}
    assert {shape.map for shape in SHAPES} == {"eighths", "permuted", "scattered", "folded"}


@pytest.mark.parametrize("kind", ["eighths", "permuted", "scattered", "folded"])
def test_a_map_gives_every_dscp_a_class_and_all_devices_have_the_same(kind):
    classes = dscp_map(kind, Random(1))
    assert len(classes) == 64
    assert set(classes) == set(range(3 if kind == "folded" else 8))
    for shape in (shape for shape in SHAPES if shape.map == kind != "eighths"):
        maps = [f["classes"] for f in made(shape, 1).faults if f["kind"] == "dscp-map"]
        assert maps
        assert all(each == maps[0] for each in maps)


def test_seeds_as_they_are_written():
    assert seeds("1") == [1]
    assert seeds("1-3,7") == [1, 2, 3, 7]


def test_a_night_that_was_stopped_goes_on_with_the_labs_that_are_left(tmp_path, monkeypatch):
    ran = []
    stem = "/nowhere"

    def run(job, folder, more, stem):
        ran.append(job.name)
        return [Told(job.name, job.seed, "s1", "pass", 1.0, "lossless")]

    monkeypatch.setattr("healthy.run", run)
    here = Kept(tmp_path / "kept.jsonl", "abc", ["-k", "s1"])
    first, second = Job("first", 1, []), Job("second", 1, [])
    told = kept_or_run(first, tmp_path, here, stem)
    with here.file.open("a") as file:
        file.write('\n{"run": ["abc", "second", 1')  # killed in the middle
    assert kept_or_run(first, tmp_path, here, stem) == told
    kept_or_run(second, tmp_path, here, stem)
    kept_or_run(second, tmp_path, here, stem)
    assert ran == ["first", "second"]
    for other in (replace(here, commit="abd"), replace(here, more=[]), replace(here, commit="")):
        kept_or_run(first, tmp_path, other, stem)
    kept_or_run(replace(first, seed=2), tmp_path, here, stem)
    assert ran == ["first", "second", "first", "first", "first", "first"]
    kept_or_run(first, tmp_path, replace(here, commit=""), stem)
    assert ran[6:] == ["first"], "files that differ from a commit's are run each time"
