"""run.json as it was left by a run."""

import re
from pathlib import Path
from typing import Any

from labtests.core.errors import LabError
from labtests.core.trusted_files import NotAFile, handed, json_of
from labtests.report.tables import FORMAT, NotTheTable, joined

FORMATS = ("labtests-run/1", FORMAT)
"""One file with all that was read, and since: run.json with tables beside it."""

Json = dict[str, Any]

MOST_PARTS = 20_000_000
"""Of a run.json, of one as long as is read at all (MOST_BYTES) and as dense as those of before."""


class UnreadableRun(LabError):
    """A run folder has no run.json that can be rendered; the text says why."""


def read_run(folder: Path) -> Json:
    """What run.json of a run folder says, with its tables at their places. Raises
    UnreadableRun."""
    return with_tables(folder, read_head(folder))


def with_tables(folder: Path, head: Json) -> Json:
    """The same of a run.json that was read before. Raises UnreadableRun."""
    try:
        return joined(folder, head)
    except NotTheTable as error:
        raise UnreadableRun(f"{folder / 'run.json'}: {error}") from error


def read_head(folder: Path) -> Json:
    """run.json alone: what was asked and answered; of a run of today no counters. Raises
    UnreadableRun."""
    file = folder / "run.json"
    try:
        run = json_of(handed(file), most_parts=MOST_PARTS)
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
    if run.get("format") not in FORMATS:
        return f"its format is {run.get('format')!r}, this labtests renders {', '.join(FORMATS)}"
    tests = run.get("tests")
    if not isinstance(tests, list) or not all(isinstance(test, dict) for test in tests):
        return "`tests` must be a list of objects"
    return ""


WHOLE_EXITS = (0, 1, 10)
"""Of a run that was cut off by nobody: all passed, some did not, the lab is not as it was found."""


def was_whole(run: Json) -> bool:
    """Whether it ran all suites to their end; an older run.json that does not say so is judged by
    its exit code, and by whether anything was left out."""
    if isinstance(told := run.get("whole"), bool):
        return told
    asked = entries(run.get("tests"))
    ran = any(entries(test.get("phases")) for test in asked)
    picked = re.search(r"(^| )(--plan|-k|-m|--lf|--deselect)\b|::", str(run.get("command_line")))
    exited = run.get("exit_code") in WHOLE_EXITS
    return exited and ran and not run.get("not_run") and not picked


def lab_of(run: Json) -> Json:
    """What the run says of its lab; nothing when it says nothing."""
    lab = run.get("lab")
    return lab if isinstance(lab, dict) else {}


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
