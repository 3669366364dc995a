"""A suite that lets the password out in every way it can; copied as test_leaks.py by the test."""

import logging
import os
import sys
import warnings

import pytest

CONTROL = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202eright to left\r over"
OWNED = "document.documentElement.dataset.owned=1"
HTML = f"<script>{OWNED}</script><img src=x onerror={OWNED}><svg onload={OWNED}>"


@pytest.fixture
def _leaks():
    word = os.environ["LAB_PASSWORD"]
    sys.stdout.write(f"a fixture prints {word}\n")
    yield
    raise RuntimeError(f"teardown knows {word}")


@pytest.mark.parametrize("given", [HTML, "plain"])
@pytest.mark.usefixtures("_leaks")
def test_leaks(record_property, given):
    word = os.environ["LAB_PASSWORD"]
    everything = {"password": word, "args": [word, word.encode()], "as text": f"<{word}>"}
    sys.stdout.write(f"printed {word} {CONTROL} {HTML}\n")
    for name in ("paramiko.transport", "netmiko", "fabric", "invoke", "asyncssh", "labtests"):
        logging.getLogger(name).debug("%s logs %r and %s", name, everything, word)
    record_property("property", f"{word} {CONTROL}")
    warnings.warn(f"a warning about {word}", stacklevel=1)
    raise ValueError(f"could not log in with {word} {CONTROL} {HTML} of {given}")


def test_asserts():
    word = os.environ["LAB_PASSWORD"]
    assert word == CONTROL + HTML


def test_skips():
    pytest.skip(f"not with {os.environ['LAB_PASSWORD']} {CONTROL}")


def test_is_expected():
    pytest.xfail(f"not with {os.environ['LAB_PASSWORD']} {CONTROL}")
