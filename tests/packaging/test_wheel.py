"""What a wheel brings, in another folder and another environment."""

import re
from pathlib import Path

import pytest

from labtests import __version__

STREAMS = str(Path(__file__).parents[2] / "testbeds" / "streams" / "h3c-s6550-cx4.yaml")


def test_the_wheel_is_what_is_imported(asked, installed):
    where = asked("pytest", "--version", "-VV")
    assert where.returncode == 0
    told = asked("labtests", "--version")
    assert told.stdout == f"labtests, version {__version__}\n"
    found = asked("pip", "show", "labtests").stdout or str(installed)
    assert "source" not in found


def test_pytest_finds_the_plugin_and_the_suites_that_came(asked):
    told = asked("pytest", "--pyargs", "labtests.suites", "--collect-only", "-q")
    assert told.returncode == 0, told.stdout + told.stderr
    suites = set(re.findall(r"(test_\w+)\.py::", told.stdout))
    assert {"test_s1_pfc", "test_s2_dcqcn", "test_below_bottleneck"} <= suites
    assert "--testbed" in asked("pytest", "--help").stdout


def test_without_a_testbed_nobody_hears_of_it(asked, tmp_path):
    (tmp_path / "test_mine.py").write_text("def test_mine():\n    assert True\n")
    told = asked("pytest", "-q")
    assert told.returncode == 0
    assert "labtests" not in told.stdout.partition("plugins:")[0]
    assert "1 passed" in told.stdout
    left = {file.name for file in tmp_path.iterdir()} - {"__pycache__", ".pytest_cache"}
    assert left == {"test_mine.py"}


def test_a_project_that_names_the_plugin_gets_it_once(asked, tmp_path):
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["labtests.pytest_plugin"]\n')
    (tmp_path / "test_mine.py").write_text("def test_mine():\n    assert True\n")
    told = asked("pytest", "-q")
    assert told.returncode == 0, told.stdout + told.stderr


def test_testbeds_that_came_have_their_names(asked):
    told = asked("labtests", "validate", "h3c-s6550-cx4")
    assert told.returncode == 0, told.stderr
    assert "4 devices" in told.stdout
    wrong = asked("labtests", "validate", "h3c-s6550")
    assert wrong.returncode == 2
    assert "h3c-s6550-cx4" in wrong.stderr


@pytest.mark.parametrize(
    ("package", "testbed", "extra", "code"),
    [("numba", "h3c-s6550-cx4", "simlab", 10), ("grpc", STREAMS, "streams", 4)],
)
def test_a_dry_run_without_the_extra_is_a_sentence(  # noqa: PLR0913
    asked, tmp_path, package, testbed, extra, code
):
    absent = tmp_path / "without"
    absent.mkdir()
    (absent / f"{package}.py").write_text(f"raise ModuleNotFoundError('none', name='{package}')\n")
    told = asked(
        "pytest", "--pyargs", "labtests.suites.test_below_bottleneck", "--testbed",
        testbed, "--dry-run", PYTHONPATH=str(absent),
    )  # fmt: skip
    assert told.returncode == code, told.stdout
    assert re.search(f"needs? the package {package}", told.stdout)
    assert f"remedy: pip install 'labtests[{extra}]'" in told.stdout
    assert "Traceback" not in told.stdout + told.stderr


def test_init_copies_what_came_and_writes_over_nothing(asked, tmp_path):
    told = asked("labtests", "init", "mine")
    assert told.returncode == 0, told.stderr
    assert (tmp_path / "mine" / "suites" / "test_s1_pfc.py").is_file()
    assert (tmp_path / "mine" / "testbeds" / "nexus-cx5.yaml").is_file()
    assert (tmp_path / "mine" / "testbeds" / "streams" / "sonic-cx5.yaml").is_file()
    assert (tmp_path / "mine" / "profiles" / "lossless-25g.yaml").is_file()
    assert not list((tmp_path / "mine").rglob("__*"))
    again = asked("labtests", "init", "mine")
    assert again.returncode == 2
    assert "is there already" in again.stderr
    nowhere = asked("labtests", "init", "/proc/mine")
    assert nowhere.returncode == 2
    assert nowhere.stderr.startswith("/proc/mine")
    assert "Traceback" not in nowhere.stderr


FOREIGN = """
def pytest_addoption(parser):
    parser.addoption("--testbed", default="theirs")
    parser.getgroup("their own").addoption("--plan", action="store_true", help="their plan")
"""
THEIRS = """
def test_theirs(pytestconfig):
    assert pytestconfig.getoption("--testbed") == "mine"
    assert pytestconfig.getoption("plan") is True
"""


@pytest.mark.parametrize("place", [".", "tests"])
def test_options_of_a_project_with_our_names_stay_its_own(asked, tmp_path, place):
    (tmp_path / place).mkdir(exist_ok=True)
    (tmp_path / place / "conftest.py").write_text(FOREIGN)
    (tmp_path / place / "test_theirs.py").write_text(THEIRS)
    told = asked("pytest", "-q", "--testbed", "mine", "--plan")
    assert told.returncode == 0, told.stdout + told.stderr
    assert not (tmp_path / "reports").exists()


def test_beside_them_ours_have_a_longer_name(asked, tmp_path):
    (tmp_path / "conftest.py").write_text(FOREIGN)
    helped = asked("pytest", "--help").stdout
    assert re.search(r"^ +--inventory=FILE, --labtests-testbed=FILE", helped, re.MULTILINE)
    assert "their plan" in helped
    assert "--testbed, --plan are somebody else's here" in " ".join(helped.split())
    suites = ("pytest", "--pyargs", "labtests.suites", "-q", "--collect-only")
    needs = asked(*suites[:-1], "--testbed", "h3c-s6550-cx4", "--dry-run")
    assert needs.returncode == 4
    assert "needs a lab: --testbed FILE" in needs.stderr
    assert "or --labtests-testbed FILE where that name is somebody else's" in needs.stderr
    wrong = asked(*suites[:-1], "--labtests-testbed", "nowhere", "--dry-run")
    assert wrong.returncode == 4
    assert "nowhere:1:1: file: cannot be read" in wrong.stderr


def test_a_suite_is_begun_in_an_empty_folder(asked, tmp_path):
    told = asked("labtests", "new", "suite", "half_load")
    assert told.returncode == 0, told.stderr
    listed = asked("pytest", "--collect-only", "-q")
    assert "test_half_load.py::test_half_load" in listed.stdout
