"""What `labtests topology` draws and proves of networks that are small, or have long names."""

import re
from itertools import pairwise

import pytest
from click.testing import CliRunner

from labtests.__main__ import main
from labtests.core.drawing import WIDTH

LETTER = 6.6
"""How wide a letter of 12 px is, about."""


def case(tmp_path, hosts, switches, cables):
    links = [
        f"  - {{between: [{one}, {other}], rate_gbit_per_s: 100, length_m: 5}}"
        for one, other in [*hosts.items(), *cables]
    ]
    named = [f"{kind}: {{{', '.join(f'{n}: ' for n in names)}}}" for kind, names in (
        ("hosts", hosts), ("switches", switches))]  # fmt: skip
    first, *_, last = hosts
    file = tmp_path / "case.yaml"
    head = ["name: net", "duration_ms: 1", "routing: ecmp", "nic: {pfc: [3]}", "switch: {pfc: [3]}"]
    flows = f"flows: [{{source: {first}, target: {last}}}]"
    file.write_text("\n".join([*head, *named, "links:", *links, flows, ""]))
    return file


def shown(*arguments):
    return CliRunner().invoke(main, ["topology", *map(str, arguments)], prog_name="labtests")


def leaves_and_spines(tmp_path, count):
    leaves = [f"rack-leaf-{n}" for n in range(count)]
    spines = ["datacentre-spine-0", "datacentre-spine-1"]
    hosts = {f"h{n}": leaf for n, leaf in enumerate(leaves)}
    return case(tmp_path, hosts, [*leaves, *spines], [(a, b) for a in leaves for b in spines])


@pytest.mark.parametrize("count", [4, 20])
def test_no_name_leaves_its_box_or_lies_on_another(tmp_path, count):
    out = tmp_path / "out.svg"
    shown(leaves_and_spines(tmp_path, count), "--check", "--plot", out)
    svg = out.read_text()
    at = r'x="([\d.]+)" y="([\d.]+)"'
    anchored = rf'<text {at} text-anchor="middle"[^>]*>((?:rack|datacentre)-[^<]*)</text>'
    boxes = re.findall(rf'<rect {at} width="([\d.]+)"', svg)
    wide = {(round(float(x) + float(w) / 2), float(y)): float(w) for x, y, w in boxes}
    rows, names = {}, set()
    for x, y, name in re.findall(anchored, svg):
        found = [wide.get((round(float(x)) + off, float(y) - 16)) for off in (0, -1, 1)]
        assert max(each or 0 for each in found) >= LETTER * len(name)
        rows.setdefault(y, []).append((float(x), LETTER * len(name)))
        names.add(name)
    for row in rows.values():
        for (x0, w0), (x1, w1) in pairwise(sorted(row)):
            assert x0 + w0 / 2 <= x1 - w1 / 2
    assert "rack-leaf-2" in names


def test_no_line_of_words_leaves_the_sheet(tmp_path):
    out = tmp_path / "out.svg"
    shown(leaves_and_spines(tmp_path, 4), "--check", "--plot", out)
    for words in re.findall(r'font-weight="bold"[^>]*>([^<]*)</text>', out.read_text()):
        assert 20 + 7.2 * len(words) <= WIDTH, words


def test_of_one_switch_no_paths_are_told_of(tmp_path):
    file = case(tmp_path, {"a": "s1", "b": "s1"}, ["s1"], [])
    said = shown(file, "--check").stdout
    assert "disjoint" not in said
    assert "tier" not in said
    assert "one failure: 1 of links and switches: no cycle, proven: no packet crosses" in said
    assert "2 failures at once: 0 of links and switches: nothing to look at" in said


def test_hosts_that_hang_on_one_switch_of_a_ring_prove_no_paths(tmp_path):
    cables = [("s1", "s2"), ("s2", "s3"), ("s3", "s1")]
    file = case(tmp_path, {"a": "s1", "b": "s1"}, ["s1", "s2", "s3"], cables)
    said = shown(file, "--check").stdout
    assert "no packet crosses from one switch to another" in said
    assert "disjoint" not in said
