"""A run that has ended is entered; whatever goes wrong there is said, and fails no run."""

from collections.abc import Callable
from pathlib import Path

from labtests.core.errors import LabError
from labtests.history.records import NotEntered, of_folder
from labtests.history.store import FILE, OFF, History, asked

SITE = "site"
Say = Callable[[str], None]


def place_of(reports: Path | None) -> str | None:
    """The history that the environment names, else the one in `reports`; None: there is none."""
    where = asked() or (None if reports is None else str(reports / FILE))
    return None if where == OFF else where


def enter_run(folder: Path, reports: Path | None, say: Say, *, problem: str = "") -> None:
    """The history (place_of) gets the run of a folder. Without one nothing is kept; one that had a
    problem when this run's page was written is not waited for again."""
    where = place_of(reports)
    if where is None:
        return
    if problem:
        _not_entered(folder, problem, say)
        return
    try:
        run = of_folder(folder)
        with History.open(where) as history:
            history.enter(run)
    except NotEntered:
        return
    except Exception as error:  # noqa: BLE001 a driver's, too: no run fails of its history
        _not_entered(folder, _told(error), say)
        return
    if reports is not None:
        update_site(where, reports, say)


def _not_entered(folder: Path, why: str, say: Say) -> None:
    say(f"the run is not in the history: {why}")
    say(f"  later: labtests history import {folder}")


def update_site(where: str, reports: Path, say: Say) -> None:
    """The pages over a history, where there are some."""
    if not (folder := reports / SITE).is_dir():
        return
    try:
        from labtests.history.site import write_site

        with History.open(where) as history:
            write_site(history, folder)
    except Exception as error:  # noqa: BLE001 no run fails of its pages
        say(f"{folder} is not written: {_told(error)}")


def _told(error: Exception) -> str:
    return str(error) if isinstance(error, LabError | OSError) else type(error).__name__


def enter_folders(folders: list[Path], where: str, say: Say) -> bool:
    """Each run's folder is entered, or it is said why not. Whether all that are whole are in."""
    well = True
    with History.open(where) as history:
        for folder in folders:
            try:
                word = "entered" if history.enter(of_folder(folder)) else "was there"
                say(f"{word}: {folder}")
            except NotEntered as error:
                say(f"left out: {error}")
            except Exception as error:  # noqa: BLE001 one broken run keeps no other out
                well = False
                say(f"not entered: {folder}: {_told(error)}")
    return well
