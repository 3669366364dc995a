"""Flows that wait for others: they start when the last of those has been delivered.

Delivered: the receiver has every byte (its sender hears of it later). That is what a step of a
collective waits for: who has received a part may send it on.
"""

from labtests.network.compiled import compiled
from labtests.network.flows import wake_flow_by
from labtests.network.rows import clock_at, edge_at, flow_at
from labtests.network.tables import ACTIVE, NONE, State


@compiled
def release_followers(t: State, f: int) -> None:
    """Flow f has been delivered: those that waited for nothing else start."""
    e = flow_at(t, f).first_edge
    while e != NONE:
        g = edge_at(t, e).flow
        follower = flow_at(t, g)
        follower.waits -= 1
        if follower.waits == 0 and follower.life == ACTIVE:
            follower.start_at = clock_at(t, 0).now + follower.delay_ps
            follower.send_at = follower.start_at
            wake_flow_by(t, g, follower.start_at)
        e = edge_at(t, e).next
