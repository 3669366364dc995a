"""Files by their path, or by a bare name in the folder where such files are kept."""

import os
from functools import partial
from pathlib import Path

from labtests.core import trusted_files
from labtests.core.errors import InventoryError
from labtests.core.shipped import shipped
from labtests.inventory.document import Readable


def located(text: str, folder: str = "testbeds") -> Path:
    """This path, or <folder>/<text>.yaml when a bare name is given: of the current directory, else
    one that came with labtests. Raises InventoryError, with the names that there are, for one that
    is neither."""
    if Path(text).exists() or Path(text).name != text:
        return Path(text)
    for place in (Path(folder), shipped(folder)):
        if (named := place / f"{text}.yaml").is_file():
            return named
    there = ", ".join(names_in(Path(folder), shipped(folder))) or "no file"
    raise InventoryError([f"{text}: no such file, and no such name: {folder}/ has {there}"])


def names_in(*folders: Path) -> list[str]:
    """The bare names of the files in these folders."""
    return sorted({path.stem for folder in folders for path in folder.glob("*.yaml")})


def chosen(text: str, folder: str = "testbeds") -> Readable:
    """The same of a file because of which devices are dialled: one that another user may have put
    in the user's way is not read. Raises InventoryError for one that is not there."""
    return to_dial(located(text, folder), named=is_path(text))


def to_dial(path: Path, *, named: bool) -> Readable:
    """A file because of which devices are dialled; `named` by its path, or only found."""
    return Readable(path, partial(trusted_files.chosen, named=named))


def is_path(text: str) -> bool:
    """Whether it says where the file is; a bare name means what is found by it."""
    return os.sep in text
