"""A microburst of 200 us: what the exact state and a peak show, and totals do not."""

from streams_bench import Served, sampled

from labtests.protocols import gnmi

SWITCH, PORT = "SN2700", "swp1"
LENGTH = f"/qos/interfaces/interface[interface-id={PORT}]/output/queues/queue[name=0]/state"


def test_a_planted_microburst_is_in_the_peak_and_in_the_exact_state(cumulus: Served):
    lab, network = cumulus.lab, cumulus.lab.lab
    receiver = network.testbed.device("ServerC").ports[0].address
    with cumulus.subscribed(sampled(LENGTH)) as call:
        while not next(call).sync_response:
            pass
        for sender in ("ServerA", "ServerB"):
            burst = {"kind": "background", "to": receiver, "tos": 0, "mbit_per_s": 24_000}
            burst |= {"milliseconds": 0.2, "after_s": 0.5}
            lab.ask({"fault": {"device": sender, **burst}})
        lab.ask({"advance_s": 0.5})
        asked = {"device": SWITCH, "port": PORT, "priority": 0}
        lab.ask({"trace": {**asked, "every_us": 5, "for_ms": 1}})
        lab.ask({"advance_s": 0.6})
        sampled_now = {
            gnmi.text(each.path).rpartition("/")[2]: gnmi.value(each.val)
            for each in next(call).update.update
        }
    traced = lab.ask({"traced": asked})["traced"]
    queue = [row[1] for row in traced["rows"]]
    above = [row[0] for row in traced["rows"] if row[1] > max(queue) / 2]
    assert traced["source"] == "from the simulation's exact state"
    assert max(queue) > 100_000
    assert max(above) - min(above) < 0.001
    assert queue[-1] == 0
    assert sampled_now["instant-queue-len"] == 0  # what a sample of the moment sees
    assert sampled_now["max-queue-len"] >= max(queue)
