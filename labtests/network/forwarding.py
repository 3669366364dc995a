"""Which way a packet leaves a switch, where the route table does not name one port.

A row of the route table is a port, NONE (no way), or, below that, a row of the path table: several
ports to choose from (ECMP). The choice is by a hash of the packet's five-tuple, so a flow keeps its
path:

    CRC-32 (IEEE 802.3) of source address, destination address, source port, destination port,
    protocol: once for each flow and direction (paths.five_tuple_hash)
    mixed with the switch's seed by the last step of MurmurHash3 (Appleby), modulo the ways

Switches with different seeds choose independently. CRC-32 alone would not do: it is linear, so a
seed turns the choices of all flows alike, and those that met at one switch meet at the next.
A way whose link is down is left out, and only its flows move. With `spray` each packet of a flow
goes any way, at random (packet spraying, adaptive routing): packets overtake each other.

A path may also be the door of a VXLAN tunnel between two switches (RFC 7348; tunnels.py). In a
tunnel a packet is 50 B longer and its target is the far end's column of the route table. The outer
source port is made of the inner five-tuple's hash, so ECMP inside the tunnel goes by that.
"""

from labtests.network.arithmetic import random_below
from labtests.network.compiled import compiled, inlined
from labtests.network.packets import free_packet
from labtests.network.rows import (
    clock_at,
    flow_at,
    packet_at,
    path_at,
    port_at,
    route_at,
    switch_at,
)
from labtests.network.tables import NONE, State
from labtests.network.tunnels import decapsulate, encapsulate, inner_target

FIRST_PATH = -2
"""The route table's number for row 0 of the path table; row n is FIRST_PATH - n."""
BALANCE, ENTER, LEAVE = 0, 1, 2
SPRAYED = 1 << 30
"""Random numbers below this choose among at most 64 ways: none is likelier than another."""
_WORD = 0xFFFFFFFF


@inlined
def mixed(number: int, seed: int) -> int:
    """32 bits that depend on every bit of `number` and `seed` (MurmurHash3, fmix32)."""
    bits = (int(number) ^ int(seed)) & _WORD
    bits ^= bits >> 16
    bits = bits * 0x85EBCA6B & _WORD
    bits ^= bits >> 13
    bits = bits * 0xC2B2AE35 & _WORD
    return int(bits ^ (bits >> 16))


@inlined
def tuple_hash(t: State, k: int) -> int:
    """The hash of packet k's five-tuple."""
    packet = packet_at(t, k)
    flow = flow_at(t, packet.flow)
    target = packet.target
    if target >= clock_at(t, 0).hosts:
        target = inner_target(packet.inner)
    return int(flow.hash_to_target if target == flow.target else flow.hash_to_source)


@inlined
def remainder(number: int, ways: int) -> int:
    """number % ways; of a power of two, as most are, without a division, which is dear."""
    below = ways - 1
    return int(number % ways if ways & below else number & below)


@inlined
def balanced(t: State, s: int, k: int, row: int) -> int:
    """The port of path `row` by which packet k leaves switch s."""
    path = path_at(t, row)
    if path.spray:
        number = random_below(t, SPRAYED)
    else:
        number = mixed(tuple_hash(t, k), switch_at(t, s).hash_seed)
    chosen = int(path.ports[remainder(number, path.ways)])
    if port_at(t, chosen).up:
        return chosen
    left = 0
    for way in range(path.ways):
        left += port_at(t, path.ports[way]).up
    if left == 0:
        return chosen
    place = mixed(number, left) % left
    for way in range(path.ways):
        if port_at(t, path.ports[way]).up:
            if place == 0:
                return int(path.ports[way])
            place -= 1
    return chosen


@compiled
def way_out(t: State, s: int, k: int, route: int) -> int:
    """The port by which packet k leaves switch s by a route that is not one port; NONE: none."""
    while route < NONE:
        path = path_at(t, FIRST_PATH - route)
        if path.does == BALANCE:
            return balanced(t, s, k, FIRST_PATH - route)
        if path.does == ENTER:
            encapsulate(t, k, path.target, path.copies)
        else:
            decapsulate(t, k)
        route = route_at(t, s * clock_at(t, 0).targets + packet_at(t, k).target).port
    return int(route)


@compiled
def lose_on_the_way(t: State, p: int, k: int) -> None:
    """Count packet k, which came in by port p and goes no further: its TTL is 0, or no route."""
    if packet_at(t, k).ttl <= 0:
        port_at(t, p).ttl_drops += 1
    else:
        port_at(t, p).no_route_drops += 1
    free_packet(t, k)
