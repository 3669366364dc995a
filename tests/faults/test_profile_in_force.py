"""A lab that was given a profile is as healthy as one that was not: suites make the queues that
they rest on."""

import importlib.util
from pathlib import Path

import pytest
from in_process import InProcessLab, opened

from labtests.experiment import SIMULATED, Incast
from labtests.faults.suites import SUITES
from labtests.inventory import load
from labtests.profile.planning import made, planned
from labtests.profile.reader import load as load_profile

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", ["s1", "socket"])
def test_suites_pass_with_the_shipped_profile_in_force(name, tmp_path):
    """Its RED dropped the datagrams of S1, its weights starved a sender of S2, and with its PFC no
    queue of the others dropped."""
    suite = SUITES[name]
    spec = importlib.util.spec_from_file_location(suite.file, ROOT / f"suites/{suite.file}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    testbed = load(ROOT / "testbeds" / "h3c-s6550-cx4.yaml")
    profile = load_profile(ROOT / "profiles" / "lossless-25g.yaml").form
    with (
        InProcessLab(testbed, seed=1) as simulated,
        opened(simulated, testbed, tmp_path / "journal.jsonl") as lab,
        lab.restoring(),
    ):
        made(profile, lab, planned(profile, lab))
        incast = Incast(lab=lab, pace=SIMULATED.lasting(5))
        getattr(module, suite.test)(incast)
        assert incast.judged
        assert all(judged.as_expected for judged in incast.judged)
