"""numba, the compiler, which no file of the current directory sets.

As it is imported, and before each compilation, numba reads `.numba_config.yaml` of the current
directory and imports the modules that it names; in /tmp anybody can put one. So it is imported at
the root of the file system, where only root writes, and looks for that file where none can be. All
of labtests has numba from here; its settings are those of the environment (`NUMBA_*`).
"""

import importlib
import os
from functools import cache
from typing import Any

from labtests.core.errors import LabError
from labtests.core.interpreter import at_root

_NOWHERE = "/dev/null/none"
_NAMES_CODE = "NUMBA_CACHE_LOCATOR_CLASSES"
"""Modules that say where compiled code is kept: code_folder.py says that."""


@cache
def numba() -> Any:
    """The package. Its first import takes 0.4 s. Raises LabError when it could not be guarded."""
    os.environ.pop(_NAMES_CODE, None)
    with at_root():
        package: Any = importlib.import_module("numba")
        settings: Any = package.core.config
        if not hasattr(settings, "_config_fname"):
            raise LabError(
                f"numba {package.__version__} may be set by files of the current directory in a "
                "way that is not known here\n"
                "  remedy: the version of requirements.txt; without a compiler: "
                "LABTESTS_INTERPRETED=1 (very slow)"
            )
        settings._config_fname = _NOWHERE
        settings._env_reloader.reset()  # somebody may have imported it before
    return package
