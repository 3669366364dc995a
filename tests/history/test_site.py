"""The pages over the history, as files and in a real browser."""

import os
import shutil
import stat
import subprocess
import time
from dataclasses import replace

import pytest
from chromium import Chromium
from click.testing import CliRunner
from nights import WEEK, Night, written

from labtests.__main__ import main
from labtests.history.entering import enter_run
from labtests.history.records import of_folder
from labtests.history.site import NIGHTS, write_site
from labtests.history.store import History

ATTACK = "</title><script>document.documentElement.dataset.owned='yes'</script>"


@pytest.fixture
def site(tmp_path):
    """Pages over these nights."""

    def made(*nights: Night):
        with History.open(str(tmp_path / "history.sqlite")) as history:
            for night in nights:
                history.enter(of_folder(written(tmp_path / "reports" / "lab", night)))
            pages = write_site(history, tmp_path / "reports" / "site")
        return {name: (tmp_path / "reports" / "site" / name).read_text() for name in pages}

    return made


def test_a_week_is_told(site):
    pages = site(*WEEK, Night(day=8, backend="simulated"))
    assert set(pages) == {
        "index.html", "lab-three-servers-hardware.html", "lab-three-servers-simulated.html",
    }  # fmt: skip
    lab = pages["lab-three-servers-hardware.html"]
    assert "A margin shrinks." in lab
    assert "changed with it: lab ServerA version firmware: 16.35.2000 -&gt; 16.99.1000" in lab
    assert "s2 dcqcn: dcqcn slows an rdma incast without loss, 2026-11-06 02:00" in lab
    assert "(passes again)" in lab
    assert lab.count('class="n pass"') == 13
    assert lab.count('class="n fail"') == 1
    assert "NOT HARDWARE" not in lab
    assert "SIMULATED: NOT HARDWARE" in pages["lab-three-servers-simulated.html"]


def test_a_night_links_to_its_page_where_there_is_one(site, tmp_path):
    with_page = written(tmp_path / "elsewhere", Night(day=9))
    (with_page / "report.html").write_text("the page")
    with History.open(str(tmp_path / "history.sqlite")) as history:
        history.enter(of_folder(with_page))
    lab = site(Night(day=8))["lab-three-servers-hardware.html"]
    link = 'href="../../elsewhere/20261109-020000-000009/report.html"'
    assert lab.count(link) == 1
    assert lab.count('scope="col"><a') == 1


def test_the_outcome_stands_since_it_was_another_one(site):
    index = site(Night(day=1, other="fail"), Night(day=2), Night(day=3))["index.html"]
    assert "<td>2026-11-02 02:00</td>" in index


def test_names_of_labs_are_no_paths(site, tmp_path):
    pages = site(Night(day=1, testbed="../../up"), Night(day=2, testbed="a/b"))
    assert all("/" not in name for name in pages)
    assert len(pages) == 3
    assert {file.name for file in (tmp_path / "reports" / "site").iterdir()} == set(pages)


def test_older_nights_have_pages_of_their_own(tmp_path):
    base = of_folder(written(tmp_path / "lab", Night(day=1)))
    with History.open(str(tmp_path / "history.sqlite")) as history:
        for night in range(NIGHTS + 5):
            when = f"2026-{1 + night // 28:02}-{1 + night % 28:02}T02:00:00+00:00"
            history.enter(replace(base, identity=str(night), started=when))
        write_site(history, tmp_path / "site")
    older = (tmp_path / "site" / "lab-three-servers-hardware-2.html").read_text()
    assert 'href="lab-three-servers-hardware.html">newer' in older
    assert older.count('class="n pass"') == 2 * 5


def test_nothing_in_a_run_runs_in_a_browser(site, tmp_path):
    browser = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
    if browser is None:
        pytest.skip("no Chromium on PATH")
    hostile = of_folder(written(tmp_path / "lab", Night(day=9, firmware=ATTACK, testbed=ATTACK)))
    with History.open(str(tmp_path / "history.sqlite")) as history:  # as anybody may write there
        history.enter(replace(hostile, started=f"2026-11-09T02:00:00+00:00{ATTACK}"))
    pages = site(*WEEK)
    for name in pages:
        began_s = time.monotonic()
        done = subprocess.run(
            [browser, "--headless", "--no-sandbox", "--disable-gpu",
             "--disable-background-networking", f"--user-data-dir={tmp_path / 'profile'}",
             "--dump-dom", (tmp_path / "reports" / "site" / name).as_uri()],
            capture_output=True, text=True, timeout=60, check=True,
        )  # fmt: skip
        assert "data-owned" not in done.stdout.partition("<body>")[0]
        assert time.monotonic() - began_s < 30
        assert "Labs" in done.stdout or "Suites and nights" in done.stdout


@pytest.mark.parametrize("width", [390, 1400])
def test_the_newest_night_is_in_sight(site, tmp_path, width):
    browser = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
    if browser is None:
        pytest.skip("no Chromium on PATH")
    _, name = site(*(Night(day=n) for n in range(1, 29)))
    with Chromium(browser, tmp_path / "profile") as page:
        page.size(width, 900)
        page.open((tmp_path / "reports" / "site" / name).as_uri())
        seen = page.run(
            "(() => { const box = document.querySelector('.nights').getBoundingClientRect();"
            "const suite = document.querySelector('th[scope=row]').getBoundingClientRect();"
            "const last = document.querySelector('tbody td:last-child').getBoundingClientRect();"
            "return [suite.left - box.left, last.left - suite.right, box.right - last.right]; })()"
        )
    assert 0 <= seen[0] < 4  # suites begin at the left, and cover no night
    assert seen[1] > 0
    assert seen[2] >= 0


def test_each_run_writes_the_pages_that_are_there(tmp_path, monkeypatch):
    monkeypatch.delenv("LABTESTS_HISTORY", raising=False)
    reports = tmp_path / "reports"
    enter_run(written(reports / "lab", Night(day=1)), reports, pytest.fail)
    assert not (reports / "site").exists()
    (reports / "site").mkdir()
    enter_run(written(reports / "lab", Night(day=2, other="fail")), reports, pytest.fail)
    assert "✕ fail" in (reports / "site" / "index.html").read_text()


def test_pages_are_for_whoever_may_read_their_folder(tmp_path):
    """Any web server may serve them, which is another user; one who wants that takes it away."""
    before = os.umask(0o022)
    try:
        with History.open(str(tmp_path / "history.sqlite")) as history:
            history.enter(of_folder(written(tmp_path / "lab", Night(day=1))))
            names = write_site(history, tmp_path / "site")
            assert stat.S_IMODE((tmp_path / "site").stat().st_mode) == 0o755
            modes = {(tmp_path / "site" / name).stat().st_mode & 0o777 for name in names}
            assert modes == {0o644}
            (tmp_path / "site").chmod(0o700)
            write_site(history, tmp_path / "site")
    finally:
        os.umask(before)
    assert {(tmp_path / "site" / name).stat().st_mode & 0o777 for name in names} == {0o600}
    assert {file.name for file in (tmp_path / "site").iterdir()} == set(names)


def test_the_command_says_where_the_pages_are(tmp_path):
    where = str(tmp_path / "history.sqlite")
    with History.open(where) as history:
        history.enter(of_folder(written(tmp_path / "lab", Night(day=1))))
    ask = ["site", "--history", where, "--out", str(tmp_path / "out")]
    told = CliRunner().invoke(main, ask).output
    assert told == f"2 pages: {tmp_path / 'out' / 'index.html'}\n"
