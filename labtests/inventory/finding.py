"""Files by their path, or by a bare name in the folder where such files are kept."""

import os
from pathlib import Path

from labtests.core.errors import InventoryError
from labtests.core.private_files import expect_chosen


def located(text: str, folder: str = "testbeds") -> Path:
    """This path, or <folder>/<text>.yaml when a bare name is given. Raises InventoryError, with the
    names that there are, for one that is neither."""
    if Path(text).exists() or Path(text).name != text:
        return Path(text)
    if (named := Path(folder) / f"{text}.yaml").is_file():
        return named
    there = ", ".join(sorted(path.stem for path in Path(folder).glob("*.yaml"))) or "no file"
    raise InventoryError([f"{text}: no such file, and no such name: {folder}/ has {there}"])


def chosen(text: str, folder: str = "testbeds") -> Path:
    """The same of a file because of which devices are dialled. Raises NotPrivate for one that
    another user may have put in the user's way, InventoryError for one that is not there."""
    path = located(text, folder)
    expect_chosen(path, named=is_path(text))
    return path


def is_path(text: str) -> bool:
    """Whether it says where the file is; a bare name means what is found by it."""
    return os.sep in text
