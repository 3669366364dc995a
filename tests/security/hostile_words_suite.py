"""Tests that say hostile words everywhere; copied as test_words.py by who reads junit.xml."""

import logging
import sys
import warnings

import pytest

WORDS = {
    "control": "".join(map(chr, [*range(9), 11, 12, *range(14, 32), *range(127, 160)])),
    "cdata": "<![CDATA[x]]>]]>&amp;&#0;&#x1b;<!-- --><?xml version='1.1'?>",
    "entity": "<!DOCTYPE a [<!ENTITY b 'c'>]>&b;",
    "half": "\ud800a\udfff\udc80",
    "none": "\ufffe\uffff\ufdd0\U0001ffff",
    "ansi": "\x1b[2J\x1b]0;owned\x07\x1bPq\x1b\\\x9b31m\r over",
    "tags": "</failure></testcase><testcase name='forged'/><system-out>",
    "quotes": '"\'`><\n\t"',
    "long": "x" * 2**20,
    "wide": "\u202ertl\u2066\u200b\U0001f600\u0301" * 100,
}
CASES = pytest.mark.parametrize("name", WORDS)


@pytest.fixture
def _setup(name):
    raise ValueError(f"setup {WORDS[name]}")


@pytest.fixture
def _teardown(name):
    yield
    raise ValueError(f"teardown {WORDS[name]}")


@CASES
def test_raises(name, record_property):
    record_property(f"property {name}", f"begin{WORDS[name]}end")
    raise ValueError(f"raised begin{WORDS[name]}end")


@CASES
def test_prints(name):
    data = f"printed begin{WORDS[name]}end\n".encode(errors="surrogatepass")
    sys.stdout.buffer.write(data)
    sys.stdout.flush()
    sys.stderr.buffer.write(data)
    sys.stderr.flush()
    logging.getLogger("labtests").error("logged begin%send", WORDS[name])
    warnings.warn(f"warned {WORDS[name]}", stacklevel=1)


@CASES
def test_compares(name):
    assert WORDS[name] == ""


@CASES
def test_skips(name):
    pytest.skip(f"begin{WORDS[name]}end")


@CASES
def test_expected(name):
    pytest.xfail(f"begin{WORDS[name]}end")


@CASES
@pytest.mark.usefixtures("_setup")
def test_setup(name): ...


@CASES
@pytest.mark.usefixtures("_teardown")
def test_teardown(name): ...


@pytest.mark.parametrize("given", WORDS.values())
def test_named(given): ...
