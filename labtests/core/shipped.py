"""What comes with labtests beside its modules: in a wheel inside the package, in a clone next to
it."""

import shutil
from pathlib import Path

from labtests.core.errors import LabError

_PACKAGE = Path(__file__).parents[1]
KINDS = ("suites", "testbeds", "profiles")


def shipped(kind: str) -> Path:
    """The folder with the suites, testbeds or profiles."""
    packed = _PACKAGE / kind
    return packed if packed.is_dir() else _PACKAGE.parent / kind


def copy_shipped(folder: Path) -> list[str]:
    """All of them, into a folder, to be changed there; nothing that is there is written over.
    One line for each kind. Raises LabError, OSError."""
    taken = [folder / kind for kind in KINDS if (folder / kind).exists()]
    if taken:
        raise LabError(f"{taken[0]} is there already\n  remedy: give a new folder")
    lines = []
    for kind in KINDS:
        (folder / kind).mkdir(parents=True)
        files = [each for each in sorted(shipped(kind).rglob("*")) if _ours(each)]
        for file in files:
            copied = folder / kind / file.relative_to(shipped(kind))
            copied.parent.mkdir(exist_ok=True)
            shutil.copyfile(file, copied)
        lines.append(f"{folder / kind}: {len(files)} files")
    return lines


def _ours(file: Path) -> bool:
    return file.suffix == ".yaml" or (file.name.startswith("test_") and file.suffix == ".py")
