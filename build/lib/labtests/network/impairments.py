"""What happens to a frame on the wire: lost at random, or lost or corrupted by script.

A script belongs to one direction of a link. It counts the frames of its kinds that arrive at the
far end between two times, and hits some of them by their number. A lost frame never arrives; a
corrupted one arrives with a bad checksum (FCS; ICRC at a NIC), is counted there as a CRC error and
discarded. Either way it has taken its time on the wire.
"""

from labtests.network.arithmetic import DRAWS, random_below
from labtests.network.compiled import compiled
from labtests.network.packets import free_packet
from labtests.network.rows import clock_at, packet_at, port_at, script_at
from labtests.network.tables import CORRUPTING, NONE, PAUSE, State

INTACT, LOST, CORRUPTED = 0, 1, 2


@compiled
def scripted_damage(t: State, p: int, kind: int) -> int:
    """What the scripts of the direction to port p do to the frame that arrives there now."""
    damage = INTACT
    now = clock_at(t, 0).now
    row = port_at(t, p).script
    while row != NONE:
        script = script_at(t, row)
        if (script.kinds >> kind) & 1 and script.from_ps <= now and now < script.until_ps:
            script.seen += 1
            behind = script.seen - script.first
            if behind >= 0 and script.seen <= script.last and behind % script.every == 0:
                damage = script.damage
        row = script.next
    return int(damage)


@compiled
def is_damaged(t: State, p: int, k: int) -> bool:
    """Whether packet k, arriving at port p, is lost or corrupted; then it is counted and gone."""
    port = port_at(t, p)
    kind = packet_at(t, k).kind
    damage = INTACT
    if port.lost_draws and random_below(t, DRAWS) < port.lost_draws:
        damage = CORRUPTED if port.impaired & CORRUPTING else LOST
    elif port.script != NONE:
        damage = scripted_damage(t, p, kind)
    if damage == INTACT:
        return False
    if damage == CORRUPTED:
        port.crc_errors += 1
    else:
        port_at(t, port.peer).lost_on_wire += kind != PAUSE
    free_packet(t, k)
    return True


@compiled
def spare_ps(t: State, p: int, wire_bytes: int) -> int:
    """Whole picoseconds that a frame takes beyond its bytes x ps_per_byte; the rest is carried.

    At rates at which a byte does not last whole picoseconds (30G: 266 2/3), so that any number of
    frames back to back takes its exact time, rounded down once.
    """
    port = port_at(t, p)
    port.rest_owed += wire_bytes * port.rest_per_byte
    whole = port.rest_owed // port.rest_parts
    port.rest_owed -= whole * port.rest_parts
    return int(whole)
