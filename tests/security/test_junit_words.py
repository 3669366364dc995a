"""junit.xml of a run whose tests say hostile words is XML, and says what the terminal shows."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest

from labtests.core.printable import for_terminal

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
TESTBED = """\
name: lab
devices:
  A: {platform: connectx, management: {host: 127.0.0.1}, ports: {eth0: {}}}
"""


def words() -> dict[str, str]:
    found = importlib.util.spec_from_file_location("words", HERE / "hostile_words_suite.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    known: dict[str, str] = module.WORDS
    return known


WORDS = words()


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Element]:
    project = tmp_path_factory.mktemp("project")
    (project / "conftest.py").write_text((ROOT / "conftest.py").read_text())
    (project / "lab.yaml").write_text(TESTBED)
    (project / "test_words.py").write_text((HERE / "hostile_words_suite.py").read_text())
    options = "-m pytest test_words.py --testbed lab.yaml --run-dir out -p no:cacheprovider -q"
    more = ["--no-header", "-W", "default", "-o", "junit_logging=all", "--tb=short"]
    done = subprocess.run(
        [sys.executable, *options.split(), *more],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(ROOT), "LABTESTS_STATE_DIR": str(project / "state")},
        capture_output=True,
        timeout=240,
    )
    assert done.returncode == 1, done.stdout[-3000:].decode()
    tree = ElementTree.parse(project / "out" / "junit.xml")
    return {case.get("name") or "": case for case in tree.findall(".//testcase")}


def text_of(case: Element) -> str:
    return "".join(case.itertext())


def shown(name: str) -> str:
    """As a person sees it: line ends are those of the text."""
    return for_terminal(f"begin{WORDS[name]}end")


def test_every_case_is_there_once_and_none_is_forged(cases: dict[str, Element]) -> None:
    kinds = ("raises", "prints", "compares", "skips", "expected", "setup", "teardown")
    assert {f"test_{kind}[{name}]" for kind in kinds for name in WORDS} <= set(cases)
    assert sum(name.startswith("test_named[") for name in cases) == len(WORDS)
    assert len(cases) == (len(kinds) + 1) * len(WORDS)


@pytest.mark.parametrize("name", WORDS)
def test_what_a_test_raises_and_says_of_itself_is_read_back(
    cases: dict[str, Element], name: str
) -> None:
    case = cases[f"test_raises[{name}]"]
    said = {each.get("name"): each.get("value") for each in case.iter("property")}
    assert (said[f"property {name}"] or "").replace("\n", " ") == shown(name).replace("\n", " ")
    failure = case.find("failure")
    assert failure is not None
    assert "raised begin" in text_of(case)
    flat = text_of(case).replace("\nE   ", "\n").replace("\n    ", "\n").replace("   ", "")
    assert shown(name).splitlines()[-1].strip()[-40:] in flat


@pytest.mark.parametrize("name", WORDS)
def test_what_it_prints_and_logs_is_read_back(cases: dict[str, Element], name: str) -> None:
    case = cases[f"test_prints[{name}]"]
    logged = shown(name)
    assert logged in text_of(case)
    printed = f"printed begin{WORDS[name]}end".encode(errors="surrogatepass")
    assert for_terminal(printed.decode(errors="replace")) in text_of(case)


@pytest.mark.parametrize("kind", ["skips", "expected"])
@pytest.mark.parametrize("name", WORDS)
def test_a_reason_is_read_back(cases: dict[str, Element], name: str, kind: str) -> None:
    skipped = cases[f"test_{kind}[{name}]"].find("skipped")
    assert skipped is not None
    assert (skipped.get("message") or "").split() == shown(name).split()


@pytest.mark.parametrize("kind", ["setup", "teardown"])
@pytest.mark.parametrize("name", WORDS)
def test_an_error_around_it_is_read_back(cases: dict[str, Element], name: str, kind: str) -> None:
    assert for_terminal(f"{kind} {WORDS[name]}").splitlines()[0] in text_of(
        cases[f"test_{kind}[{name}]"]
    )
