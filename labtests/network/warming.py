"""Compiling the packet network ahead of time, in a process that does nothing else."""

import sys
from pathlib import Path

from labtests.core.errors import LabError
from labtests.network.code_folder import code_folder, complete_folder, fill


def warm() -> None:
    """The compiled network is on the disk (half a minute and more the first time, then none)."""
    complete_folder()


def load() -> None:
    """All of it is in this process, which else would load each function when it is first called."""
    from labtests.network.ahead import compile_all

    compile_all(complete_folder())


def _compile_into(folder: Path) -> None:
    from labtests.network.ahead import compile_all  # heavy, and not if another was first

    compile_all(folder)


if __name__ == "__main__":
    try:
        fill(code_folder(), _compile_into)
    except (LabError, OSError) as error:
        sys.exit(str(error))
