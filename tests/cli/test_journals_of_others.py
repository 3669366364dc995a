"""A journal that somebody else has handed over: bounded, and told as what it is."""

import gzip
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from labtests.__main__ import main
from labtests.core import packed
from labtests.core.errors import LabError
from labtests.transport import chronicle
from labtests.transport.chronicle import COMPRESSED, NAME, Chronicle, exchanges


def line(order: Any = 1, **more: Any) -> bytes:
    told = {"order": order, "time_s": 1.0, "device": "sw", "kind": "run", "command": "c"}
    return json.dumps(told | {"text": "answer"} | more).encode() + b"\n"


def test_every_member_of_a_gzip_file_is_read(tmp_path: Path) -> None:
    content = gzip.compress(line(1)) + gzip.compress(line(2)) + b"\0" * 512
    (tmp_path / COMPRESSED).write_bytes(content)

    assert [one.order for one in exchanges(tmp_path)] == [1, 2]


def test_a_journal_that_is_cut_off_is_told_as_cut(tmp_path: Path) -> None:
    whole = gzip.compress(b"".join(line(n, text=f"{n**9:x}") for n in range(999)))
    (tmp_path / COMPRESSED).write_bytes(whole[: len(whole) // 2])

    told = CliRunner().invoke(main, ["journal", str(tmp_path)])

    assert "sw  run: c" in told.stdout
    assert told.exit_code == 2
    assert "journal.jsonl.gz: it is cut off" in told.stderr
    found = Chronicle.of(tmp_path)
    assert 0 < len(found.exchanges) < 999
    assert "it is cut off: its end is missing; " in found.problem


def test_a_second_member_that_is_cut_off_is_told(tmp_path: Path) -> None:
    (tmp_path / COMPRESSED).write_bytes(gzip.compress(line(1)) + gzip.compress(line(2))[:-5])

    with pytest.raises(LabError, match="it is cut off"):
        list(exchanges(tmp_path))


@pytest.mark.parametrize("held", [b"\0", b"\n"], ids=["zeros", "lines"])
def test_a_few_bytes_that_claim_to_be_many_fill_no_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, held: bytes
) -> None:
    monkeypatch.setattr(packed, "_CHUNK", 2**14)
    monkeypatch.setattr(chronicle, "MOST_BYTES", 2**20)
    monkeypatch.setattr(chronicle, "MOST_PACKED_BYTES", 2**18)
    monkeypatch.setattr(chronicle, "LONGEST_LINE", 2**18)
    (tmp_path / COMPRESSED).write_bytes(gzip.compress(held * 2**21, 6))

    tracemalloc.start()
    with pytest.raises(LabError, match=r"more than|longer than"):
        for _ in exchanges(tmp_path):
            pass
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert most < 2**20


def test_a_compressed_journal_is_no_longer_than_one_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chronicle, "MOST_PACKED_BYTES", 1000)
    (tmp_path / COMPRESSED).write_bytes(b"\0" * 1001)

    with pytest.raises(LabError, match="more than 1000 bytes"):
        list(exchanges(tmp_path))


@pytest.mark.parametrize(
    ("odd", "why"),
    [
        ({"order": "x"}, "`order` is not a number"),
        ({"time_s": [1]}, "`time_s` is not a number"),
        ({"time_s": float("inf")}, "`time_s` is not a number"),
        ({"device": {"a": 1}}, "`device` is not a text"),
        ({"command": 5}, "`command` is not a text"),
        ({"command": None, "commands": [1]}, "`commands` is not a list of texts"),
        ({"kind": []}, "`kind` is not a text"),
        ({"kind": "note", "text": 5}, "`text` is not a text"),
        ({"text": ["a"]}, "`text` is not a text"),
        ({"errors": 1}, "`errors` is not a text"),
        ({"status": "0"}, "`status` is not a number"),
        ({"status": True}, "`status` is not a number"),
        ({"kind": "start", "process": [1]}, "`process` is not a number"),
        ({"problem": {}}, "`problem` is not a text"),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(value),
)
def test_what_has_another_type_is_named_with_file_and_line(
    tmp_path: Path, odd: dict[str, Any], why: str
) -> None:
    (tmp_path / NAME).write_bytes(line(1) + line(**odd))

    told = CliRunner().invoke(main, ["journal", str(tmp_path)])

    assert told.exit_code == 2
    assert f"{NAME}:2: {why}" in told.stderr
    assert "Traceback" not in told.stderr


@pytest.mark.parametrize("raw", [b"[1]", b"5", b"{", b"[" * 100_000, b"9" * 5000, b"\xff"])
def test_a_line_that_is_no_object_is_named(tmp_path: Path, raw: bytes) -> None:
    (tmp_path / NAME).write_bytes(line(1) + b"\n" + raw + b"\n" + line(2))

    with pytest.raises(LabError, match=f"{NAME}:3: it is "):
        list(exchanges(tmp_path))
