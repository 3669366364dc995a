"""Where a run's files are: its folder, the reports in it, and reports/latest."""

import os
import secrets
from pathlib import Path

import pytest

from labtests.core.errors import LabError
from labtests.core.private_files import NotPrivate, expect_safe_way, reserve
from labtests.recovery.opening import run_folder

_LOG = "log_file"
_WRITTEN_BY_OTHERS = ("htmlpath", "xmlpath", _LOG)


def home(config: pytest.Config) -> Path:
    """The folder that has `reports/`: pytest's rootdir where pytest was started in it, else where
    it was started; suites that came with labtests are in nobody's project."""
    here = config.invocation_params.dir
    return config.rootpath if config.rootpath in (here, *here.parents) else here


def made(folder: Path) -> Path:
    """The run folder, for its owner only. What an earlier run left is never written over."""
    try:
        return run_folder(folder)
    except NotPrivate as error:
        raise pytest.UsageError(f"cannot create the run folder: {error}") from error
    except LabError as error:
        raise pytest.UsageError(str(error)) from error


def reserve_reports(config: pytest.Config) -> None:
    """Where the user asked pytest and its plugins to write, there is a file of ours before they do:
    they would follow a stranger's link. Raises NotPrivate."""
    for option in _WRITTEN_BY_OTHERS:
        if asked := config.getoption(option, None) or _of_ini(config, option):
            written = Path(os.path.expandvars(asked)).expanduser()  # as they do
            setattr(config.option, option, str(reserve(written)))


def default_reports(config: pytest.Config, folder: Path) -> None:
    """report.html and junit.xml in the run folder, unless the user asked for other places or
    switched the plugin off."""
    if config.getoption("htmlpath", "off") is None:
        config.option.htmlpath = str(folder / "report.html")
    if config.getoption("xmlpath", "off") is None:
        config.option.xmlpath = str(folder / "junit.xml")
    config.option.self_contained_html = True  # else there is a folder `assets` beside it


def _of_ini(config: pytest.Config, option: str) -> str:
    return str(config.getini(option) or "") if option == _LOG else ""


def point_latest(reports: Path, folder: Path) -> None:
    """reports/latest and reports/<testbed>/latest -> the last whole run, each in one step. A real
    file of that name is left alone, and so is a folder that another user has put there."""
    for place in {reports, folder.parent}:
        _point(place / "latest", folder)


def _point(latest: Path, folder: Path) -> None:
    try:
        expect_safe_way(latest)
    except NotPrivate:
        return
    latest.parent.mkdir(exist_ok=True)
    if latest.exists() and not latest.is_symlink():
        return
    fresh = latest.with_name(f".latest-{secrets.token_hex(8)}")
    fresh.symlink_to(os.path.relpath(folder, latest.parent), target_is_directory=True)
    fresh.replace(latest)
