"""Policies at the edge of Comware: made, shared, read back and put back; what the emulated switch
then does with RoCE and with other packets."""

import pytest

from labtests.capabilities.records import EdgeRule, EdgeSetting

OUT, IN = "Twenty-FiveGigE1/0/13", "Twenty-FiveGigE1/0/14"
NONE = EdgeSetting()
RULES = (EdgeRule(udp_port=4791, dscp=48, queue=6), EdgeRule(udp_port=4791, dscp=46, queue=5))


@pytest.fixture
def edge(driver):
    return driver.edge_for(RULES, 2, 16)


def queues_of(bench, port):
    """Of RoCE, then of other packets, by DSCP."""
    network = bench.switch.network
    record = network._port(port)
    return list(record.edge_queue[:64]), list(record.edge_queue[64:]), int(record.edge)


def test_a_policy_is_made_read_back_and_put_back(bench, driver, edge):
    text = bench.shown()
    driver.set_edge(OUT, edge)
    assert driver.edge(OUT) == edge
    assert "rule 0 permit udp destination-port eq 4791 dscp ef" in bench.shown()
    driver.set_edge(OUT, NONE)
    assert driver.edge(OUT) == NONE
    assert bench.shown() == text


def test_ports_share_one_which_stays_as_long_as_one_applies_it(bench, driver, edge):
    text = bench.shown()
    driver.set_edge(OUT, edge)
    made = len(bench.configured)
    driver.set_edge(IN, edge)
    assert bench.configured[made:] == [
        "system-view", f"interface {IN}", f"qos apply policy {edge.policy} inbound", "quit",
        "return",
    ]  # fmt: skip
    driver.set_edge(OUT, NONE)
    assert driver.edge(IN) == edge
    driver.set_edge(IN, NONE)
    assert bench.shown() == text


def test_roce_is_told_from_others_by_its_port(bench, driver, edge):
    driver.set_edge(OUT, edge)
    roce, others, on = queues_of(bench, OUT)
    assert on == 1
    assert (roce[48], roce[46], {*roce[:46], roce[47], *roce[49:]}) == (6, 5, {2})
    assert set(others) == {2}
    driver.set_edge(OUT, NONE)
    assert queues_of(bench, OUT)[2] == 0


def test_the_rest_alone_gets_another_dscp(bench, driver, edge):
    driver.set_edge(OUT, edge)
    record = bench.switch.network._port(OUT)
    roce, others = list(record.edge_dscp[:64]), list(record.edge_dscp[64:])
    assert (roce[48], roce[46], {*roce[:46], roce[47], *roce[49:]}) == (-1, -1, {16})
    assert set(others) == {16}
    assert " remark dscp cs2\n remark local-precedence 2\n" in bench.shown()
    driver.set_edge(OUT, NONE)
    assert set(record.edge_dscp) == {-1}


def test_the_rest_may_keep_its_dscp_and_has_another_policy_then(bench, driver, edge):
    kept = driver.edge_for(RULES, 2)
    assert kept.policy != edge.policy != driver.edge_for(RULES, 2, 18).policy
    driver.set_edge(OUT, kept)
    assert driver.edge(OUT) == kept
    assert "remark dscp" not in bench.shown()
    driver.set_edge(OUT, edge)
    assert driver.edge(OUT) == edge
    assert kept.policy not in bench.shown()


def test_a_policy_of_somebody_else_is_applied_and_never_changed(bench, driver, edge):
    bench.type("traffic classifier c", "if-match any", "traffic behavior b")
    bench.type("qos policy theirs", "classifier c behavior b")
    bench.type(f"interface {OUT}", "qos apply policy theirs inbound")
    text = bench.shown()
    theirs = EdgeSetting(policy="theirs")
    assert driver.edge(OUT) == theirs
    driver.set_edge(OUT, edge)
    assert "qos policy theirs" in bench.shown()
    driver.set_edge(OUT, theirs)
    assert bench.shown() == text


@pytest.mark.parametrize(
    "typed",
    [
        ("traffic behavior NAME-1", "remark local-precedence 4"),
        ("traffic classifier NAME-1", "undo if-match acl name NAME-1"),
        ("traffic classifier NAME-1", "if-match dscp 46"),
        ("acl advanced name NAME-0", "rule 0 permit udp destination-port eq 4791"),
        ("acl advanced name NAME-0", "rule 5 permit udp destination-port eq 4792 dscp 48"),
        ("qos policy NAME", "undo classifier NAME-2"),
        ("traffic behavior NAME-2", "remark dscp 18"),
        ("traffic behavior NAME-2", "undo remark dscp"),
        ("traffic behavior NAME-2", "undo remark local-precedence"),
        ("traffic behavior NAME-0", "remark dscp ef"),
    ],
)
def test_one_of_ours_that_somebody_has_changed_is_not_as_wanted(bench, driver, edge, typed):
    text = bench.shown()
    driver.set_edge(OUT, edge)
    bench.type(*(line.replace("NAME", edge.policy) for line in typed))
    changed = driver.edge(OUT)
    assert changed != edge
    assert list(driver.edge_commands(OUT, changed, edge))
    driver.set_edge(OUT, NONE)
    assert bench.shown() == text


@pytest.mark.parametrize("name", ["labtests-edge", "labtests-edge-x", "labtests-edge-3-7827527"])
def test_a_policy_whose_name_only_begins_as_ours_is_somebody_elses(bench, driver, edge, name):
    bench.type("traffic classifier c", "if-match any", "traffic behavior b")
    bench.type(f"qos policy {name}", "classifier c behavior b")
    bench.type(f"interface {OUT}", f"qos apply policy {name} inbound")
    text = bench.shown()
    driver.set_edge(OUT, edge)
    driver.set_edge(OUT, EdgeSetting(policy=name))
    assert bench.shown() == text


def test_of_one_that_somebody_has_emptied_nothing_is_made_up(bench, driver, edge):
    driver.set_edge(OUT, edge)
    bench.type(f"qos policy {edge.policy}", *(f"undo classifier {edge.policy}-{n}" for n in (0, 1)))
    emptied = driver.edge(OUT)
    assert emptied == EdgeSetting(policy=edge.policy)
    made = [str(line) for line in driver.edge_commands(OUT, NONE, emptied)]
    assert made[:2] == [f"qos policy {edge.policy}", "quit"]
    assert not [line for line in made if "None" in line]


def test_what_is_in_use_cannot_be_removed(bench, driver, edge):
    driver.set_edge(OUT, edge)
    session = bench.switch.session()
    session.run("system-view")
    for line in ("qos policy {}", "traffic classifier {}-0", "traffic behavior {}-0"):
        assert "in use" in session.run(f"undo {line.format(edge.policy)}")
    assert "in use" in session.run(f"undo acl advanced name {edge.policy}-0")
    assert "does not exist" in session.run("undo qos policy none")
