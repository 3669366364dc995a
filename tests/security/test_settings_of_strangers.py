"""A settings file that somebody has put into the current directory sets no library of ours."""

import ast
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GUARD = ROOT / "labtests/network/compiler.py"
GUARDED = {"numba", "llvmlite"}


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory is a stranger's; `ran` is there when a word of his was obeyed.

    unittest.__main__ runs what is called test*.py in the current directory."""
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / ".numba_config.yaml").write_text(
        "cache_locator_classes: unittest.__main__.X\ncpu_name: generic\n"
    )
    (shared / "test_x.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\n")
    monkeypatch.chdir(shared)
    return shared


def _python(program: str) -> str:
    environment = {name: word for name, word in os.environ.items() if not name.startswith("NUMBA_")}
    done = subprocess.run(
        [sys.executable, "-P", "-c", program],
        env={**environment, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


CACHED = """
from pathlib import Path
from labtests.network import compiled, {}
compiled.keep_in(Path({!r}))
"""


@pytest.mark.parametrize("module", ["arithmetic", "rows", "code_folder"])
def test_compiled_code_is_kept_as_no_file_of_the_current_directory_says(
    shared: Path, tmp_path: Path, module: str
) -> None:
    assert _python(CACHED.format(module, str(tmp_path))) == ""
    assert not (tmp_path / "ran").exists()


LATER = """
from labtests.network.compiler import numba
config = numba().core.config
config.reload_config()  # as each compilation does
print(config.CPU_NAME, config.CACHE_LOCATOR_CLASSES)
"""


@pytest.mark.parametrize("before", ["", "import numba\n"], ids=["first", "imported before"])
def test_a_file_of_the_current_directory_sets_numba_neither_at_first_nor_later(
    shared: Path, before: str
) -> None:
    assert _python(before + LATER) == "None \n"


def test_numba_comes_with_the_guard_only() -> None:
    found = [
        f"{file.relative_to(ROOT)}:{node.lineno}"
        for file in (ROOT / "labtests").rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if _imported(node) & GUARDED or (_named(node) & GUARDED and file != GUARD)
    ]
    assert found == []


def _imported(node: ast.AST) -> set[str]:
    """The packages of an import statement."""
    if isinstance(node, ast.Import):
        return {name.name.partition(".")[0] for name in node.names}
    if isinstance(node, ast.ImportFrom) and not node.level:
        return {str(node.module).partition(".")[0]}
    return set()


def _named(node: ast.AST) -> set[str]:
    """What a call of import_module(...) or __import__(...) names."""
    words = node.args[:1] if isinstance(node, ast.Call) else []
    return {
        str(word.value).partition(".")[0]
        for word in words
        if isinstance(word, ast.Constant)
        and ast.unparse(node.func).endswith(("import_module", "__import__"))  # type: ignore[attr-defined]
    }


LOOKS = """
import os, sys
seen = []
sys.addaudithook(lambda event, told: event in ("subprocess.Popen", "import")
                 and told and seen.append((event, os.getcwd(), str(told[0]))))
from labtests.core.interpreter import simulation
simulation("simlab.serving")
here = os.getcwd()
print(here, sorted({name for event, cwd, name in seen if cwd == here and (
    event == "subprocess.Popen" or name.partition(".")[0] in ("numba", "asyncssh"))}))
"""


def test_libraries_of_the_simulated_lab_are_imported_elsewhere(shared: Path) -> None:
    """asyncssh has a linker look for a library, and that reads files of the current directory."""
    assert _python(LOOKS) == f"{shared} []\n"


def test_an_installed_checkout_puts_no_relative_path_on_the_path_of_modules(tmp_path: Path) -> None:
    """setuptools would: `__editable__....finder.__path_hook__`, a folder that anybody can make."""
    pytest.importorskip("setuptools")
    (tmp_path / "labtests").symlink_to(ROOT / "labtests")
    (tmp_path / "README.md").write_text("")
    (tmp_path / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text())
    build = "from setuptools import build_meta; print(build_meta.build_editable('.'))"
    done = subprocess.run(
        [sys.executable, "-P", "-c", build],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        assert [name for name in wheel.namelist() if name.endswith("_finder.py")] == []
