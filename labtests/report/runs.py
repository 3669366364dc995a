"""run.json as it was left by a run."""

from pathlib import Path
from typing import Any

from labtests.core.errors import LabError
from labtests.core.trusted_files import NotAFile, handed, json_of

FORMAT = "labtests-run/1"

Json = dict[str, Any]


class UnreadableRun(LabError):
    """A run folder has no run.json that can be rendered; the text says why."""


def read_run(folder: Path) -> Json:
    """What run.json of a run folder says. Raises UnreadableRun."""
    file = folder / "run.json"
    try:
        run = json_of(handed(file), most_parts=None)
    except OSError as error:
        raise UnreadableRun(
            f"{file} cannot be read: {error.strerror}\n"
            "  remedy: name the folder of a run, such as reports/latest"
        ) from error
    except NotAFile as error:
        raise UnreadableRun(str(error)) from error
    except ValueError as error:
        raise UnreadableRun(f"{file} is not JSON: {error}") from error
    if problem := _problem(run):
        raise UnreadableRun(f"{file}: {problem}")
    return run  # type: ignore[no-any-return]


def _problem(run: object) -> str:
    if not isinstance(run, dict):
        return "a run is a JSON object"
    if run.get("format") != FORMAT:
        return f"its format is {run.get('format')!r}, this labtests renders {FORMAT!r}"
    tests = run.get("tests")
    if not isinstance(tests, list) or not all(isinstance(test, dict) for test in tests):
        return "`tests` must be a list of objects"
    return ""


def entries(value: object) -> list[Json]:
    """The objects of a list; whatever else stands there is left out."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def texts(value: object) -> list[str]:
    """The texts of a list; whatever else stands there is left out."""
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


LARGEST = 1e100
"""Nothing that is measured comes near; what is larger cannot be drawn."""


def number(value: object) -> int | float | None:
    """A number that can be reckoned with, or None. A truth value is not one."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return value if abs(value) < LARGEST else None  # NaN compares false as well
