"""What a port's tree does to the packet network: schedule, limits, RED, and which DSCP goes where.

Only the trees that the network can carry out are taken: an htb with one class over all, of the
link's speed or more, and at most eight leaf classes with nearly no rate of their own, chosen by
filters that are the same on every port. The rest is refused, never approximated.
"""

from dataclasses import dataclass, replace

from labtests.network import Schedule, Switch, WredCurve
from labtests.simlab.linux.options import NotEmulated
from labtests.simlab.linux_switch.netem import lost_per_million
from labtests.simlab.linux_switch.nodes import ClassNode, FilterNode, PortTree, QdiscNode
from labtests.simlab.linux_switch.quantities import Id

QUEUES = 8
LAST_LEVEL = 7
MOST_OWN_SHARE = 0.1
"""Of a link: how much all classes together may have as rates of their own. They are served before
prio and quantum, which is not modelled."""
MOST_WLOG = 15
_DSCP_OF_TOS = 2
_TOS_SHIFT = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuePlan:
    """One queue of the network. Limits: 0 is none."""

    limit_bytes: int = 0
    limit_packets: int = 0
    curve: WredCurve | None = None
    lost_per_million: int = 0  # by a netem


@dataclass(frozen=True, slots=True, kw_only=True)
class PortPlan:
    """Everything of one port. `dscp_map` is the queue of each DSCP."""

    schedule: Schedule
    queues: tuple[QueuePlan, ...]
    dscp_map: tuple[int, ...]


def planned(tree: PortTree, link_bits_per_s: int) -> PortPlan:
    """What the network is to do. Raises NotEmulated."""
    root = tree.root
    if root is None or root.kind != "htb":
        raise NotEmulated("a port without its htb")
    leaves = tree.leaves()
    _expect_rates(tree, leaves, link_bits_per_s)
    empty = [QueuePlan()] * (QUEUES - len(leaves))
    served = [(each.quantum, each.prio) for each in leaves] + [(1, LAST_LEVEL)] * len(empty)
    return PortPlan(
        schedule=Schedule(
            queues=tuple(("1", max(1, quantum)) for quantum, _ in served),
            levels=tuple(level for _, level in served),
        ),
        queues=(*(_queue(list(tree.chain(each.id))) for each in leaves), *empty),
        dscp_map=_dscp_map(tree, root, leaves),
    )


def carry_out(network: Switch, port: str, plan: PortPlan, before: PortPlan | None) -> None:
    """The network does it. What is as it was is not touched: a RED set again forgets its
    average."""
    if before is None or plan.schedule != before.schedule:
        network.set_schedule(port, plan.schedule)
    for queue, new in enumerate(plan.queues):
        old = None if before is None else before.queues[queue]
        network.set_queue_limit(
            port, queue, cells=new.limit_bytes or None, packets=new.limit_packets or None
        )
        if old is None or new.curve != old.curve:
            network.set_wred(port, queue, new.curve)
        if old is not None and new.lost_per_million != old.lost_per_million:
            network.drop_randomly(port, queue, new.lost_per_million)


def classify(network: Switch, dscp_map: tuple[int, ...]) -> None:
    """Packets go into these queues, whatever port they leave by."""
    for queue in range(QUEUES):
        network.set_dot1p_lp(queue, queue)
    for dscp, queue in enumerate(dscp_map):
        network.set_dscp_dot1p(dscp, queue)


def _expect_rates(tree: PortTree, leaves: list[ClassNode], link_bits_per_s: int) -> None:
    inner = [each for each in tree.classes.values() if tree.is_inner(each.id)]
    if len(inner) != 1 or inner[0].parent is not None or not 1 <= len(leaves) <= QUEUES:
        raise NotEmulated("an htb without one class over up to eight others")
    if inner[0].ceil < link_bits_per_s or any(each.ceil < link_bits_per_s for each in leaves):
        raise NotEmulated("a ceil below the speed of the link")
    if sum(each.rate for each in leaves) > MOST_OWN_SHARE * link_bits_per_s:
        raise NotEmulated("classes whose own rates are more than a tenth of the link")


def _queue(chain: list[QdiscNode]) -> QueuePlan:
    lost = 0
    if chain and chain[0].kind == "netem":
        lost = lost_per_million(chain[0])
        chain = chain[1:] or [replace(chain[0], kind="pfifo")]  # alone, it holds so many packets
    red = next((each.red for each in chain if each.red is not None), None)
    if len(chain) > 2 or not chain or chain[-1].red is not None:
        raise NotEmulated("a queue that is no fifo, nor a RED over one")
    if red is not None and red.ewma > MOST_WLOG:
        raise NotEmulated(f"a RED whose average follows by 2**-{red.ewma}")
    fifo = chain[-1]
    curve = None
    if red is not None:
        curve = WredCurve(
            low_limit=red.min,
            high_limit=red.max,
            probability_percent=100 * red.probability,
            weighting_exponent=red.ewma,
            ecn=red.ecn,
        )
    return QueuePlan(
        limit_bytes=max(1, fifo.limit) if fifo.kind == "bfifo" else 0,
        limit_packets=max(1, fifo.limit) if fifo.kind == "pfifo" else 0,
        curve=curve,
        lost_per_million=lost,
    )


def _dscp_map(tree: PortTree, root: QdiscNode, leaves: list[ClassNode]) -> tuple[int, ...]:
    queue_of = {each.id: queue for queue, each in enumerate(leaves)}
    default = queue_of.get(Id(root.handle, root.default_minor))
    used = [each for each in tree.filters if each.protocol == "ip"]
    found = []
    for dscp in range(64):
        queues = {_taken(used, dscp << _DSCP_OF_TOS | ecn, queue_of, default) for ecn in range(4)}
        queue = queues.pop() if len(queues) == 1 else None
        if queue is None:
            raise NotEmulated(f"DSCP {dscp} in no queue of its own")
        found.append(queue)
    return tuple(found)


def _taken(
    filters: list[FilterNode], tos: int, queue_of: dict[Id, int], default: int | None
) -> int | None:
    for each in sorted(filters, key=lambda each: each.pref):
        if tos << _TOS_SHIFT & each.mask == each.value:
            return queue_of.get(each.to)
    return default
