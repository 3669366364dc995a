"""The page in a real browser: nothing in a run can run, and everything can be read."""

import copy
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from chromium import Chromium

from labtests.report import css, page
from labtests.transport.chronicle import Chronicle, Exchange

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


def test_the_browser_of_this_test_does_run_scripts(opened: Callable[[str], str]) -> None:
    dom = opened(f"<!DOCTYPE html><p>{ATTACK}</p>")

    assert "data-owned" in dom


TEST = "suites/test_pauses.py::test_pauses"


def hostile_page(run: Json, spoiled: Callable[..., Json]) -> str:
    return page(
        spoiled(run, lambda leaf: f"{ATTACK}{leaf}" if isinstance(leaf, str) else leaf),
        journal=asked(
            test=f"{ATTACK}{TEST}", device=f"{ATTACK}d", command=f"{ATTACK}c", text=f"{ATTACK}t"
        ),
    )


def without_policy(html: str) -> str:
    """What is escaped is safe by itself: the second wall is taken away."""
    return re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", html)


def asked(**more: Any) -> Chronicle:
    """A journal of one exchange."""
    told: dict[str, Any] = {"order": 1, "time_s": 1.0, "device": "S6550", "kind": "run"}
    told |= {"test": TEST, "command": "display version"}
    told |= {"text": "Comware\nline two", "status": None}
    return Chronicle((Exchange(**(told | more)),))


def test_nothing_runs_on_a_page_full_of_hostile_text(
    run: Json, spoiled: Callable[..., Json], opened: Callable[[str], str]
) -> None:
    dom = opened(without_policy(hostile_page(run, spoiled)))

    assert "data-owned" not in dom
    assert not re.search(r"<(img|iframe|script)\b(?! type=\"(application/json|module)\")", dom)
    assert "&lt;script&gt;" in dom


@pytest.fixture
def chromium(browser: str, tmp_path: Path) -> Iterator[Chromium]:
    with Chromium(browser, tmp_path / "driven") as found:
        yield found


@pytest.fixture
def shown(chromium: Chromium, tmp_path: Path) -> Callable[..., Chromium]:
    """A page that is open in a browser that can be asked."""

    def show(html: str, address: str = "", width: int = 1400) -> Chromium:
        file = tmp_path / "page.html"
        file.write_text(html, encoding="utf-8")
        chromium.size(width, 1000)
        chromium.open(file.as_uri() + address)
        return chromium

    return show


OPEN_ALL = """for (let n = 0; n < 4; n += 1) {
  for (const one of document.querySelectorAll('details')) one.open = true;
  await new Promise((done) => setTimeout(done, 60));
}"""


def opened_all(chromium: Chromium) -> None:
    chromium.run(f"(async () => {{ {OPEN_ALL} }})()")


def test_nothing_runs_when_all_that_the_script_draws_is_drawn(
    run: Json, spoiled: Callable[..., Json], shown: Callable[..., Chromium]
) -> None:
    page_ = shown(without_policy(hostile_page(run, spoiled)))

    opened_all(page_)

    assert page_.run("document.documentElement.dataset.owned") is None
    assert page_.run("document.querySelectorAll('img, iframe').length") == 0
    assert ATTACK in page_.run("document.querySelector('[data-make=commands]').textContent")


def test_the_policy_of_the_page_lets_its_script_run_and_no_other(
    run: Json, shown: Callable[..., Chromium]
) -> None:
    page_ = shown(
        page(run).replace("</main>", f"{ATTACK.partition('<iframe')[0]}</main>"), "#pauses"
    )

    assert page_.run("document.querySelectorAll('.lt-curve').length") > 3
    assert page_.run("document.documentElement.dataset.owned") is None
    assert any("Content Security Policy" in words for words in page_.said)


def test_no_error_is_said_and_every_link_opens_what_it_names(
    run: Json, shown: Callable[..., Chromium], test_of: Any, verdict_of: Any
) -> None:
    run["tests"].append(test_of("loses", "fail", [verdict_of(outcome="fail")]))
    page_ = shown(page(run, journal=asked()))

    seen = page_.run(
        "[...document.querySelectorAll('a[href^=\"#\"]')].map((link) => { link.click();"
        "const target = document.getElementById(link.getAttribute('href').slice(1));"
        "return [link.getAttribute('href'), target.checkVisibility(),"
        " target.tagName !== 'DETAILS' || target.open]; })"
    )

    assert len(seen) > 4
    assert all(visible and unfolded for _, visible, unfolded in seen), seen
    assert page_.said == []


@pytest.mark.parametrize("part", ["plots", "counters/0", "commands/0", "settings", "flows"])
def test_an_address_opens_what_it_names(
    run: Json, shown: Callable[..., Chromium], part: str
) -> None:
    page_ = shown(page(run, journal=asked()), f"#pauses/{part}")

    assert page_.run(f"document.getElementById('pauses/{part}').checkVisibility()")
    assert page_.run("document.getElementById('pauses').open")
    if part == "commands/0":
        page_.run(f"document.getElementById('pauses/{part}').open = true")
        page_.run("new Promise((done) => setTimeout(done, 80))")
        assert "line two" in page_.run(f"document.getElementById('pauses/{part}').textContent")


def test_a_phone_scrolls_in_one_direction_with_everything_open(
    run: Json, shown: Callable[..., Chromium], test_of: Any, verdict_of: Any
) -> None:
    run["tests"].append(test_of("loses", "fail", [verdict_of(outcome="fail")]))
    note = "ServerA enp3s0f0np0 priority 3 tx_packets = 12345678; S6550 queue 3 rx = 12345678"
    fact = {"name": "sent by NICs = received by the switch, queue 3", "note": note, "measured": 0}
    run["tests"][0]["verdicts"][0]["facts"].append(fact)
    page_ = shown(page(run, journal=asked()), width=390)

    opened_all(page_)

    assert page_.run("document.documentElement.scrollWidth") == 390
    smallest_px = page_.run(
        "Math.min(...[...document.querySelectorAll('.lt-lane > svg text')]"
        ".map((text) => text.getBoundingClientRect().height))"
    )
    assert smallest_px > 9
    ledger = "document.querySelector('.lt-what').closest('table')"
    assert page_.run(f"{ledger}.offsetWidth <= {ledger}.parentElement.offsetWidth")
    narrowest_px = page_.run(
        "Math.min(...[...document.querySelectorAll('[data-make=counters] td')]"
        ".filter((cell) => cell.textContent.length > 3).map((cell) => cell.clientWidth))"
    )
    assert narrowest_px > 30  # no word is one letter wide


def test_a_phone_has_the_lab_from_top_to_bottom(
    run: Json, shown: Callable[..., Chromium], verdict_of: Any
) -> None:
    """A picture that runs off the screen hides who is to blame."""
    because = "S6550 Twenty-FiveGigE1/0/13 queue 5 dropped_packets grew by 17"
    run["tests"][0].update(outcome="fail", verdicts=[verdict_of(outcome="fail", because=because)])
    page_ = shown(page(run), width=390)
    boxes = page_.run(
        "[...document.querySelectorAll('.lt-picture *')].filter((e) => e.checkVisibility())"
        ".map((e) => e.getBoundingClientRect()).map((box) => [box.left, box.right])"
    )

    assert len(boxes) > 8
    assert all(left >= 0 and right <= 390 for left, right in boxes)
    told = page_.run("document.querySelector('.lt-picture').innerText.split(/\\s+/).join(' ')")
    assert told.startswith("ServerA p3 4.31 Gb/s → S6550 1/0/14 S6550 queue 3: 0 dropped ServerC")
    assert page_.run("document.querySelector('.lt-stop-ring').innerText") == "S6550 1/0/13"
    wide = shown(page(run), width=1400)
    assert not wide.run("document.querySelector('.lt-stops').checkVisibility()")


def test_the_sign_of_an_outcome_has_no_frame_of_another_part(
    run: Json, shown: Callable[..., Chromium], test_of: Any, verdict_of: Any
) -> None:
    for outcome in ("error", "fail", "inconclusive"):
        run["tests"].append(test_of(outcome, outcome, [verdict_of(outcome=outcome)]))
    page_ = shown(page(run))

    sizes = page_.run(
        "[...document.querySelectorAll('.lt-signs .lt-sign')].map((sign) => {"
        "const s = getComputedStyle(sign); return [sign.offsetWidth, sign.offsetHeight,"
        " s.borderLeftWidth, s.marginTop, s.color === s.backgroundColor]; })"
    )

    assert sizes == [[19, 19, "0px", "0px", False]] * 4


def test_one_cursor_goes_through_all_plots_and_tells_their_values(
    run: Json, shown: Callable[..., Chromium]
) -> None:
    page_ = shown(page(run), "#pauses/plots")
    assert page_.run("document.querySelector('.lt-key b + *') !== null")
    page_.run("document.querySelector('.lt-plots').focus()")
    for _ in range(20):
        page_.press("ArrowRight")

    ways = page_.run("[...document.querySelectorAll('.lt-cursor')].map((c) => c.getAttribute('d'))")
    values = page_.run("[...document.querySelectorAll('.lt-key li b')].map((b) => b.textContent)")

    assert len(ways) == 3
    assert len({way.partition(" ")[0] for way in ways}) == 1
    assert ways[0].startswith("M")
    assert "900" in values  # pause frames a second


def test_time_between_phases_takes_no_room_from_them(
    run: Json, shown: Callable[..., Chromium]
) -> None:
    """A switch that is slow to count lets a minute pass between control and experiment."""
    phases = run["tests"][0]["phases"]
    later = copy.deepcopy(phases[0]) | {"name": "later", "start_s": 75.0, "end_s": 80.0}
    for row in (*later["samples"], *(r for f in later["flows"] for r in f["intervals"])):
        row |= {key: row[key] + 65 for key in ("time_s", "start_s", "end_s") if key in row}
    phases.append(later)
    page_ = shown(page(run), "#pauses/plots")

    svg = "document.querySelector('.lt-lane > svg')"
    bands = page_.run(f"[...{svg}.querySelectorAll('rect')].map((r) => +r.getAttribute('width'))")
    axis = page_.run("[...document.querySelectorAll('.lt-lane > svg')].at(-1).textContent")
    page_.run("document.querySelector('.lt-plots').focus()")
    for _ in range(50):
        page_.press("ArrowRight")
    values = page_.run("[...document.querySelectorAll('.lt-key li b')].map((b) => b.textContent)")

    assert all(width > 300 for width in bands)
    assert "60 s cut" in axis
    assert "900" in values


def test_paper_has_one_suite_of_each_walk_open(
    run: Json, shown: Callable[..., Chromium], test_of: Any, verdict_of: Any
) -> None:
    because = "S6550 Twenty-FiveGigE1/0/13 queue 3 dropped_packets grew by 4"
    for name in ("a", "b", "c"):
        run["tests"].append(test_of(name, "fail", [verdict_of(outcome="fail", because=because)]))
    page_ = shown(page(run))

    page_.printed()

    opened = "[...document.querySelectorAll('.lt-suite[open]')].map((suite) => suite.id)"
    assert page_.run(opened) == ["a"]


def test_a_priority_has_one_colour_in_every_plot(run: Json, shown: Callable[..., Chromium]) -> None:
    page_ = shown(page(run), "#pauses/plots")

    classes = page_.run(
        "[...document.querySelectorAll('.lt-lane > svg .lt-curve')].map((c) => c.classList[1])"
    )

    assert classes == ["lt-q3"] * 4  # two flows of DSCP 24, queue 3, priority 3
    own = (
        "new Set([...document.querySelectorAll('.lt-lane > svg')[0].querySelectorAll('.lt-curve')]"
    )
    assert page_.run(f"{own}.map((c) => c.getAttribute('class'))).size") == 2  # not the same twice
    page_.run(
        "document.querySelector('.lt-key li').dispatchEvent(new PointerEvent('pointerenter'))"
    )
    assert page_.run("document.querySelectorAll('.lt-lane .lt-curve.lt-faint').length") == 1
    lanes = page_.run("document.querySelectorAll('.lt-lane').length")
    assert page_.run("document.querySelectorAll('.lt-lane .lt-key button').length") == lanes > 2


def test_a_plot_is_handed_over_as_a_table(run: Json, shown: Callable[..., Chromium]) -> None:
    page_ = shown(page(run), "#pauses/plots")
    page_.run(
        "window.made = []; URL.createObjectURL = (blob) => { made.push(blob.text()); return '#'; };"
        "document.querySelectorAll('.lt-lane .lt-key button')[1].click()"
    )

    lines = page_.run("made[0]").splitlines()

    assert lines[0] == "plot,unit,line,from_s,until_s,value"
    assert {line.split(",")[0] for line in lines[1:]} == {"Queue length"}
    assert len(lines) == 6


def test_keys_walk_the_suites(
    run: Json, shown: Callable[..., Chromium], test_of: Any, verdict_of: Any
) -> None:
    run["tests"].append(test_of("loses", "fail", [verdict_of(outcome="fail")]))
    page_ = shown(page(run))
    at = "document.activeElement.parentElement.id"

    found = []
    for key in ("j", "j", "r"):
        page_.press(key)
        found.append(page_.run(at))
    page_.press("Enter")

    assert found == ["loses", "pauses", "loses"]
    assert page_.run("document.getElementById('loses').open")
    page_.press("t")
    assert page_.run("getComputedStyle(document.documentElement).colorScheme") == "light"
    page_.press("/")
    page_.press("x")
    assert page_.run("document.getElementById('lt-search').value") == "x"


def test_search_finds_counters_and_opens_them(run: Json, shown: Callable[..., Chromium]) -> None:
    page_ = shown(page(run))
    page_.run(
        "(() => { const box = document.getElementById('lt-search'); box.value = 'FORWARDED s6550';"
        "box.dispatchEvent(new Event('input')); })()"
    )

    hit = page_.run("document.querySelector('#lt-hits a').getAttribute('href')")
    page_.run("document.querySelector('#lt-hits a').click()")

    assert hit == "#pauses/counters/0"
    assert "(PFC on)" in page_.run("document.querySelector('#lt-hits a').textContent")
    find = (
        "((words) => { const box = document.getElementById('lt-search'); box.value = words;"
        "box.dispatchEvent(new Event('input')); scrollTo(0, document.body.scrollHeight);"
        "const list = document.getElementById('lt-hits'), at = list.getBoundingClientRect();"
        "return [list.querySelectorAll('a').length, at.top >= 0 && at.top < 300]; })"
    )
    assert page_.run(f"{find}('queue 3 forwarded')") == [1, True]  # seen from everywhere
    assert page_.run(f"{find}('queue 7 forwarded')") == [0, True]  # 7 is in a figure there
    assert page_.run("document.querySelector('tr.lt-found').textContent").startswith("S6550")
    assert page_.run("document.querySelector('.lt-phase').textContent") == "PFC on"


def test_it_prints(run: Json, shown: Callable[..., Chromium]) -> None:
    printed = shown(page(run)).printed()

    assert printed.startswith(b"%PDF")
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b", printed)) <= 8


def test_paper_has_no_words_of_a_button_and_one_card_is_as_wide_as_it(
    run: Json, shown: Callable[..., Chromium]
) -> None:
    run["tests"] = run["tests"][:1]
    run["tests"][0]["outcome"] = "fail"
    page_ = shown(page(run))
    page_.run(f"(async () => {{ {OPEN_ALL} }})()")
    page_.send("Emulation.setEmulatedMedia", media="print")

    assert "All plots:" in page_.run("document.body.textContent")
    assert "All plots:" not in page_.run("document.body.innerText")
    wide = "(name) => document.querySelector(name).getBoundingClientRect().width"
    card, cards = (page_.run(f"({wide})('.lt-{name}')") for name in ("card", "cards"))
    assert card == cards


def test_a_figure_on_white_has_dark_letters_in_the_dark(
    run: Json, shown: Callable[..., Chromium]
) -> None:
    place = {"device": "S6550", "port": "E1", "priority": 3, "source": "exact state"}
    run["tests"][0]["phases"][0]["exact_state"] = [
        place | {"time_s": 12 + n, "shared_bytes": 9000, "headroom_bytes": 40, "paused": n % 2}
        for n in range(4)
    ]
    page_ = shown(page(run), "#pauses")
    page_.prefer("dark")

    letters = page_.run("getComputedStyle(document.querySelector('.lt-paper text')).fill")

    assert letters == "rgb(23, 27, 32)"


def test_ten_suites_are_small_and_shown_within_a_second(
    run: Json, shown: Callable[..., Chromium], test_of: Any, verdict_of: Any
) -> None:
    for n in range(99):
        test = test_of(f"more{n}", "pass", [verdict_of(), verdict_of("control", "fail")])
        test["phases"][0]["samples"] *= 20
        run["tests"].append(test)
    html = page(run)
    page_ = shown(html)

    assert len(html.encode()) < 1_500_000
    assert page_.run("document.querySelectorAll('*').length") < 16_000
    paints = page_.run("performance.getEntriesByType('paint').map((paint) => paint.startTime)")
    assert all(paint_ms < 1000 for paint_ms in paints), paints


# -- colours -----------------------------------------------------------------------------------

GROUNDS = ("bg", "card", "well")
ON_GROUNDS = (
    *("fg", "soft", "link", "pass", "fail", "inconclusive", "error", "skipped"),
    *(f"q{n}" for n in range(8)),
)
PAIRS = [
    *((text, ground) for text in ON_GROUNDS for ground in GROUNDS),
    *(("on", ground) for ground in ("pass", "fail", "inconclusive", "error")),
    *((text, ground) for text in ("fg", "fail") for ground in ("band-control", "band-experiment")),
    ("stamp-fg", "stamp"),
    ("bg", "fg"),
]


def colours() -> dict[str, tuple[str, str]]:
    """Each variable of the style sheet: in light and in dark."""
    found = re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", css())
    return {name: (light, dark) for name, light, dark in found}


def luminance(colour: str) -> float:
    """WCAG 2: relative luminance of #rrggbb."""
    parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize(("text", "ground"), PAIRS)
def test_every_text_stands_out_from_its_ground(text: str, ground: str) -> None:
    for scheme in (0, 1):
        a, b = (luminance(colours()[name][scheme]) for name in (text, ground))
        assert (max(a, b) + 0.05) / (min(a, b) + 0.05) >= 4.5


def test_no_colour_stands_beside_the_variables() -> None:
    beside = re.sub(r"--[\w-]+: light-dark\([^)]*\);?", "", css())
    assert set(re.findall(r"#[0-9a-fA-F]{3,8}\b(?=[;\s])", beside)) <= {"#fff"}  # paper


@pytest.mark.parametrize("dropped", [3_324, 507_120, 4_060_588, 1_234_567_890])
def test_what_a_queue_dropped_stands_within_its_switch(
    dropped: int, run: Json, verdict_of: Callable[..., Json], shown: Callable[..., Chromium]
) -> None:
    phase = run["tests"][0]["phases"][0]
    for each in phase["counters"]:
        if each["counter"] == "dropped_packets":
            each |= {"port": "Twenty-FiveGigE1/0/13", "scope": "queue", "index": 3,
                     "increase": dropped}  # fmt: skip
    failed = verdict_of(outcome="fail", because="it lost some", phase=phase["name"])
    run["tests"][0] |= {"verdicts": [failed], "outcome": "fail"}
    ends = shown(page(run)).run(
        "(() => { const words = [...document.querySelectorAll('.lt-picture svg text')]"
        ".find((text) => text.textContent.endsWith('dropped')).getBBox();"
        "const box = document.querySelector('.lt-picture rect.lt-switch').getBBox();"
        "return [words.x + words.width, box.x + box.width]; })()"
    )
    assert ends[0] + 4 <= ends[1]
