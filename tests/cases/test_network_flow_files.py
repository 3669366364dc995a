"""Flows from a table beside the case, cases of any size, and numbers as programs write them."""

import json
from pathlib import Path

import pandas as pd
import pytest
from small_case import SMALL, case

from labtests.core.errors import InventoryError
from labtests.network.cases import CaseFile, load, run
from labtests.network.cases.flow_files import read_flows

ALONE = SMALL[: SMALL.index("flows:")] + "flows_from: more.csv\n"


def with_table(folder: Path, table: str, text: str = ALONE) -> CaseFile:
    (folder / "more.csv").write_text(table, encoding="utf-8")
    return case(folder, text)


def test_flows_come_from_a_table_and_run(tmp_path: Path) -> None:
    table = "source,target,size_bytes,start_us,ecn\na,c,1000,0.5,\n\nb,c,70000,1e1,false\n"
    given = with_table(tmp_path, table)
    assert [(f.size_bytes, f.start_us, f.ecn) for f in given.flows] == [
        (1000, 0.5, None),
        (70000, 10.0, False),
    ]
    assert [flow.delivered_bytes for flow in run(given).flows] == [1000, 70000]


def test_a_parquet_table_gives_the_same_flows(tmp_path: Path) -> None:
    table = "source,target,size_bytes,start_us,ecn\na,c,1000,0.5,\nb,c,,1e1,false\n"
    given = with_table(tmp_path, table)
    pd.read_csv(tmp_path / "more.csv").to_parquet(tmp_path / "more.parquet")
    packed = case(tmp_path, ALONE.replace("more.csv", "more.parquet"))
    assert packed.flows == given.flows


def test_a_parquet_table_may_have_lists_of_names(tmp_path: Path) -> None:
    ends = {"name": ["x", "y", "z"], "source": ["a", "b", "c"], "target": ["c", "c", "a"]}
    more = {"size_bytes": [1000, 1000, 1000], "after": [None, None, ["x", "y"]]}
    pd.DataFrame(ends | more).to_parquet(tmp_path / "more.parquet")
    packed = case(tmp_path, ALONE.replace("more.csv", "more.parquet"))
    assert [flow.after for flow in packed.flows] == [None, None, ["x", "y"]]


def test_the_cases_own_flows_come_first(tmp_path: Path) -> None:
    both = with_table(tmp_path, "source,target\nb,a\n", SMALL + "flows_from: more.csv\n")
    ends = [(flow.source, flow.target) for flow in both.flows]
    assert ends == [("a", "c"), ("b", "c"), ("b", "a")]


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ("source,targt\na,c\n", "more.csv:1:2: targt: no key of a flow: did you mean target?"),
        ("source\na\n", "more.csv:1:1: target: is missing"),
        ("source,target,target\na,c,c\n", "more.csv:1:3: target: column given twice"),
        ("source,target\na,c\nz,c\n", 'more.csv:3:1: source: "z" is not there: known: a, b, c'),
        ("source,target\na,c,5\n", "more.csv:2:1: file: 3 cells in 2 columns"),
        ("source,target,qps\na,c,many\n", "more.csv:2:3: qps: must be a whole number, not"),
        ("source,target,ttl\na,c,256\n", "more.csv:2:3: ttl: must be at most 255"),
        ("source,target,start_us\n\n\na,c,9e9\n", "more.csv:4:3: start_us: is not before the end"),
        ("source,target\na,\n", "more.csv:2:2: target: is missing"),
        ('source,target\na,"c\n', "more.csv:2:1: file: unexpected end of data"),
    ],
)
def test_mistakes_of_a_table_name_its_line_and_column(
    tmp_path: Path, table: str, problem: str
) -> None:
    with pytest.raises(InventoryError) as error:
        with_table(tmp_path, table)
    assert any(problem in mistake for mistake in error.value.mistakes), error.value.mistakes


def test_a_table_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InventoryError, match=r"more\.csv:1:1: file: cannot be read: No such file"):
        case(tmp_path, ALONE)
    (tmp_path / "flows.parquet").write_bytes(b"no parquet")
    with pytest.raises(InventoryError, match=r"flows\.parquet:1:1: file: "):
        read_flows(tmp_path / "flows.parquet")


def test_no_flows_at_all_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(InventoryError, match="flows: there are none"):
        case(tmp_path, SMALL[: SMALL.index("flows:")])


def test_a_case_of_more_than_a_mebibyte_is_read(tmp_path: Path) -> None:
    line = "  - {source: a, target: c, size_bytes: 1000, start_us: 1.0, stop_us: 1999.0}\n"
    large = SMALL + line * 14_000
    assert len(large) > 2**20
    assert len(case(tmp_path, large).flows) == 14_002


@pytest.mark.parametrize("number", ["1e-5", "1E-6", "1e-05", "0.00001", "1.0e-05", "2.5E-6"])
def test_numbers_are_numbers_however_programs_write_them(tmp_path: Path, number: str) -> None:
    text = SMALL.replace("length_m: 5}", f"length_m: 5, loss: {number}}}", 1)
    assert case(tmp_path, text).links[0].loss == float(number)
    quoted = SMALL.replace("length_m: 5}", f"length_m: 5, loss: '{number}'}}", 1)
    with pytest.raises(InventoryError, match="must be a number, not the text"):
        case(tmp_path, quoted)


def test_what_json_dumps_writes_is_the_same_case(tmp_path: Path) -> None:
    small = case(tmp_path, SMALL.replace("length_m: 5}", "length_m: 5, loss: 0.0000001}", 1))
    file = tmp_path / "small.json"
    file.write_text(json.dumps(small.model_dump(exclude_unset=True)), encoding="utf-8")
    assert "1e-07" in file.read_text(encoding="utf-8")
    assert load(file) == small


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        (SMALL.replace("source: a,", f"source: a, size_bytes: {2**51},"), f"at most {2**50}"),
        (SMALL.replace("{pfc: [3]}\nlinks", "{memory: {total_bytes: 0}}\nlinks"), "at least 1"),
        (SMALL + "sampling: {bin_ms: 1.0e-9}\n", "at least 2e-05"),
        (SMALL + "warmup_ms: 2.0000001\n", "less than duration_ms (2)"),
    ],
)
def test_a_message_names_the_true_bound(tmp_path: Path, text: str, bound: str) -> None:
    with pytest.raises(InventoryError) as error:
        case(tmp_path, text)
    assert any(bound in mistake for mistake in error.value.mistakes), error.value.mistakes
