"""A netem above the queues: nothing below it is left out, and what it loses is counted."""

import json
from dataclasses import replace

import pytest
from driven import driving
from switch_box import RecordedSwitch, recording

from labtests.capabilities import counters as c
from labtests.core.errors import UnreadableOutput

Driver = driving("linux-switch")
PORT = "tcs0"
STOCK = recording("qdiscs--tbf_ets_red")


def _switch(change):
    qdiscs = json.loads(STOCK.text)
    change({each["handle"]: each for each in qdiscs if each["handle"] != "0:"}, qdiscs)
    return Driver(
        RecordedSwitch(
            (
                replace(STOCK, text=json.dumps(qdiscs)),
                replace(recording("bridged"), text=f"/sys/class/net/{PORT}/brport\n"),
                recording("features--virtio-off"),
            )
        )
    )


def _above(named, qdiscs, *, lost=0, queued=0):
    """netem at the root, the tbf in it, and the ets in that."""
    named["1:"].update(root=False, parent="9:1", drops=queued)
    del named["1:"]["root"]
    named["2:"]["drops"] = queued
    band = next(each for each in qdiscs if each.get("parent") == "2:8")
    band["drops"] = queued
    root = dict(named["1:"], kind="netem", handle="9:", root=True, options={}, drops=lost + queued)
    del root["parent"]
    qdiscs.insert(0, root)


def test_two_above_the_scheduler_hide_no_queue():
    plain, found = Driver(RecordedSwitch((STOCK,))), _switch(_above)
    queues = {r.index for r in plain.queue_counters(PORT)}
    assert len(queues) == 8
    assert {r.index for r in found.queue_counters(PORT)} == queues


def test_what_was_lost_above_the_queues_is_a_drop_of_the_port():
    found = _switch(lambda named, qdiscs: _above(named, qdiscs, lost=30, queued=4))
    port = {r.counter: r for r in found.drop_counters(PORT)}
    assert port[c.BUFFER_DROPPED_OUT_PACKETS].value == 34
    assert port[c.BUFFER_DROPPED_OUT_PACKETS].source.startswith("tc netem 9:, tbf 1:, ")

    whole = _switch(lambda named, qdiscs: _above(named, qdiscs, queued=4))
    port = {r.counter: r for r in whole.drop_counters(PORT)}
    assert port[c.BUFFER_DROPPED_OUT_PACKETS].value == 4


def test_the_check_names_a_netem():
    sentences = _switch(_above).caveats()
    assert any(each.startswith(f"netem 9: at {PORT} delays, loses, doubles") for each in sentences)


def _below_a_band(options):
    def change(named, qdiscs):
        fifo = next(each for each in qdiscs if each.get("parent") == "2:8")
        netem = dict(fifo, kind="netem", handle="900:", options=options)
        qdiscs.insert(qdiscs.index(fifo), netem)
        fifo["parent"] = "900:1"

    return change


def test_what_a_netem_of_a_queue_loses_by_a_model_is_not_known_and_not_nothing():
    found = _switch(_below_a_band({"limit": 1000, "loss-random": {"loss": 0.01, "correlation": 0}}))
    assert [lost for _, lost in found.packet_loss(PORT).losses] == [10_000]
    by_model = {"limit": 1000, "loss-gemodel": {"p": 0.01, "r": 0.9, "1-h": 1, "1-k": 0}}
    with pytest.raises(UnreadableOutput, match="loses by a model"):
        _switch(_below_a_band(by_model)).packet_loss(PORT)
