"""What the extra `streams` brings, or a sentence that says so."""

import importlib
from types import ModuleType

from labtests.core.errors import WrongOption


def needed(name: str) -> ModuleType:
    """This module of a package of the extra. Raises WrongOption, with the remedy, where it is not
    installed."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise WrongOption(
            f"streams need the package {name.split('.')[0]} ({error})\n"
            "  remedy: pip install 'labtests[streams]'; in a clone: make setup"
        ) from error
