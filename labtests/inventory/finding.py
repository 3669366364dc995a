"""Files by their path, or by a bare name in the folder where such files are kept."""

import os
from pathlib import Path

from labtests.core.private_files import expect_chosen


def located(text: str, folder: str = "testbeds") -> Path:
    """This path, or <folder>/<text>.yaml when a bare name is given and there is such a file."""
    named = Path(folder) / f"{text}.yaml"
    if not Path(text).exists() and Path(text).name == text and named.is_file():
        return named
    return Path(text)


def chosen(text: str, folder: str = "testbeds") -> Path:
    """The same of a file because of which devices are dialled. Raises NotPrivate for one that
    another user may have put in the user's way."""
    path = located(text, folder)
    expect_chosen(path, named=is_path(text))
    return path


def is_path(text: str) -> bool:
    """Whether it says where the file is; a bare name means what is found by it."""
    return os.sep in text
