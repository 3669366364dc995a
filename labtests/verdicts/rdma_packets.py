"""Where every RoCE packet of an incast went, where hosts count them: rdma_rxe, sent_pkts and
rcvd_pkts (Linux, drivers/infiniband/sw/rxe).

Both count every packet of the device, also acknowledgements and the connection manager's, which
have TOS 0: so whole hosts are added up, and all queues of the bottleneck. Senders send requests
through it; acknowledgements go the other way. rxe does not count what comes for a queue pair that
is gone (its tool has ended), the host's UDP counter has that: RoCEv2 comes by UDP.
"""

from labtests.capabilities import counters as c
from labtests.measure.evidence import Difference, Evidence
from labtests.verdicts import port_drops
from labtests.verdicts.bounds import NONE
from labtests.verdicts.outcome import Finding, held_to, missing, passed, unequal


def sent_and_received(evidence: Evidence, queues: tuple[int, ...]) -> Finding:
    """Sent by the senders - dropped in these queues = received, in RoCE packets."""
    ports = dict.fromkeys((place.device, place.port) for place in evidence.senders)
    receiver = (evidence.receiver.device, evidence.receiver.port)
    sent = [evidence.change(port, "port", None, c.RDMA_SENT_PACKETS) for port in ports]
    dropped = [port_drops.queue_drops(evidence, queue) for queue in queues]
    got = evidence.change(receiver, "port", None, c.RDMA_RECEIVED_PACKETS)
    sides = (*sent, *dropped, got)
    for difference in sides:
        if difference.increase is None:
            return missing(difference, "known", "packets")
    due = _sum(sent) - _sum(dropped)
    late = due - (got.increase or 0)
    note = f"sent {_sum(sent)} - dropped {_sum(dropped)} = {due}; received {got.increase}"
    if late > 0:
        came = evidence.change((receiver[0], ""), "host", None, c.UDP_IN_DATAGRAMS)
        if came.increase == due:
            note += f" and {late} for queue pairs that were gone (UDP InDatagrams {came.increase})"
            late = 0
    fact = held_to("sent - dropped = received, RoCE packets", late, NONE, "packets", note)
    if late:
        return unequal(fact)
    return passed(fact)


def _sum(side: list[Difference]) -> int:
    return sum(each.increase or 0 for each in side)
