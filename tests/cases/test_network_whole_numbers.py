"""A program that writes case files may write 65536.0 where a whole number has to stand."""

import json

import pytest
from small_case import SMALL

from labtests.core.errors import InventoryError
from labtests.inventory.document import Readable, read_file
from labtests.network.cases.reader import load


def tree(tmp_path, **flow):
    file = tmp_path / "small.yaml"
    file.write_text(SMALL)
    found = read_file(Readable(file)).tree
    found["flows"][0].update(flow)
    file.write_text(json.dumps(found))
    return file


def test_a_float_that_is_whole_is_the_integer(tmp_path):
    flow = load(tree(tmp_path, size_bytes=65536.0, message_bytes=1e4)).flows[0]
    assert (flow.size_bytes, type(flow.size_bytes)) == (65536, int)
    assert (flow.message_bytes, type(flow.message_bytes)) == (10000, int)


@pytest.mark.parametrize(
    ("size", "wanted"),
    [(0.5, "a whole"), (65536.5, "a whole"), (1e22, "at most"), (1e300, "at most"), (-1.0, "at")],
)
def test_one_that_is_not_or_is_out_of_bounds_is_a_mistake(tmp_path, size, wanted):
    with pytest.raises(InventoryError) as caught:
        load(tree(tmp_path, size_bytes=size))
    (line,) = caught.value.mistakes
    assert f"flows[0].size_bytes: must be {wanted}" in line


def test_in_a_list_that_may_be_a_word_instead(tmp_path):
    file = tree(tmp_path)
    found = json.loads(file.read_text())
    storm = {"device": found["flows"][0]["source"], "start_us": 0, "stop_us": 1}
    found["storms"] = [{**storm, "priorities": [3.0, 4]}]
    file.write_text(json.dumps(found))
    assert load(file).storms[0].priorities == [3, 4]
    found["storms"][0]["priorities"] = [3.5]
    file.write_text(json.dumps(found))
    with pytest.raises(InventoryError) as caught:
        load(file)
    (line,) = caught.value.mistakes
    assert "priorities: must be a whole number, not the number 3.5" in line


def test_a_cell_of_a_table_too(tmp_path):
    (tmp_path / "more.csv").write_text("source,target,size_bytes,start_us\na,c,1e6,1.5e1\n")
    (tmp_path / "small.yaml").write_text(f"flows_from: more.csv\n{SMALL}")
    flow = load(tmp_path / "small.yaml").flows[-1]
    assert (flow.size_bytes, flow.start_us) == (1_000_000, 15.0)


def test_and_a_key_of_all_flows_of_a_workload(tmp_path):
    load_of = "{name: w, pattern: permutation, size_bytes: 1e5, flow: {priority: 3.0, qps: 2.0}}"
    (tmp_path / "small.yaml").write_text(f"{SMALL}workloads: [{load_of}]\n")
    (part,) = load(tmp_path / "small.yaml").workloads
    assert part.flow == {"priority": 3, "qps": 2}
    assert type(part.flow["priority"]) is int
