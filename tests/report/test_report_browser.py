"""The page in a real browser: nothing in a run can run, and everything can be read."""

import html as escapes
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from labtests.report import css, page, summary_html, test_html

Json = dict[str, Any]

OFFLINE = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)

ATTACK = (
    "</style></title></pre></details></svg>"
    "<script>document.documentElement.dataset.owned='script'</script>"
    '"><img src=x onerror="document.documentElement.dataset.owned=\'img\'">'
    "<svg onload=\"document.documentElement.dataset.owned='svg'\"></svg>"
    "<iframe srcdoc=\"<script>parent.document.documentElement.dataset.owned='frame'</script>\">"
    "]]>'`"
)


@pytest.fixture(scope="module")
def browser() -> str:
    """A Chromium; the one thing here that may be absent from a developer's machine."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
    for name in names:
        if path := shutil.which(name):
            return path
    pytest.skip("no Chromium on PATH: install one to see the report in a browser")


@pytest.fixture
def opened(browser: str, tmp_path: Path) -> Callable[[str], str]:
    """The document after the browser has run everything in it that runs."""

    def dump(html: str) -> str:
        file = tmp_path / "page.html"
        file.write_text(html, encoding="utf-8")
        profile = f"--user-data-dir={tmp_path / 'profile'}"
        done = subprocess.run(
            [browser, *OFFLINE, profile, "--dump-dom", file.as_uri()],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        return done.stdout

    return dump


def inserted(summary: str, tests: list[str]) -> str:
    """The parts in a page that inserts them by script, as pytest-html does; no CSP helps here."""
    data = escapes.escape("\0".join([summary, *tests]), quote=True)
    return (
        f"<!DOCTYPE html><meta charset=utf-8><style>{css()}</style>"
        f'<div id=data hidden data-parts="{data.replace(chr(0), "&#1;")}"></div><main></main>'
        "<script>for (const part of document.getElementById('data').dataset.parts.split('\\u0001'))"
        "document.querySelector('main').insertAdjacentHTML('beforeend', part);"
        "document.documentElement.dataset.scripts = 'on';</script>"
    )


def test_the_browser_of_this_test_does_run_scripts(opened: Callable[[str], str]) -> None:
    dom = opened(f"<!DOCTYPE html><p>{ATTACK}</p>")

    assert "data-owned" in dom


def test_nothing_runs_on_a_page_full_of_hostile_text(
    run: Json, spoiled: Callable[..., Json], opened: Callable[[str], str]
) -> None:
    hostile = spoiled(run, lambda leaf: f"{ATTACK}{leaf}" if isinstance(leaf, str) else leaf)

    dom = opened(page(hostile))

    assert "data-owned" not in dom
    assert not re.search(r"<(script|img|iframe)\b", dom)
    assert "&lt;script&gt;" in dom


def test_nothing_runs_when_a_script_inserts_the_parts(
    run: Json, spoiled: Callable[..., Json], opened: Callable[[str], str]
) -> None:
    hostile = spoiled(run, lambda leaf: f"{ATTACK}{leaf}" if isinstance(leaf, str) else leaf)

    dom = opened(inserted(summary_html(hostile), [test_html(t) for t in hostile["tests"]]))

    assert 'data-scripts="on"' in dom
    assert "data-owned" not in dom
    assert '<article class="lt lt-test"' in dom


def test_the_page_is_drawn(run: Json, browser: str, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(page(run), encoding="utf-8")
    picture = tmp_path / "page.png"

    subprocess.run(
        [
            browser,
            *OFFLINE,
            f"--user-data-dir={tmp_path / 'profile'}",
            "--window-size=1200,1600",
            f"--screenshot={picture}",
            (tmp_path / "page.html").as_uri(),
        ],
        capture_output=True,
        timeout=60,
        check=True,
    )

    content = picture.read_bytes()
    assert content.startswith(b"\x89PNG")
    assert len(content) > 30_000  # an empty page of this size is a few kB
