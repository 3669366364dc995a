"""DCBX between hosts and their switch ports: what it has come to, and waiting until it has."""

from labtests.capabilities.facts import DcbxState, DcbxView
from labtests.experiment.roles import Role, Roles
from labtests.lab.lab import Lab

SETTLES_S = 65.0
"""Two intervals of LLDP (30 s), and some: a change is told at once, and by the next one again."""
ASKED_EVERY_S = 1.0


def dcbx_of(lab: Lab, role: Role) -> tuple[DcbxState, DcbxState]:
    """What the NIC port shows, and the switch port opposite."""
    host, switch = (
        lab.ask(at.device, lab.part(at.device, DcbxView).dcbx_state(at.interface))
        for at in (role.nic, role.switch)
    )
    return host, switch


def dcbx_seen(lab: Lab, roles: Roles) -> tuple[tuple[DcbxState, DcbxState], ...]:
    """Of each sender."""
    return tuple(dcbx_of(lab, role) for role in roles.senders)


def settled(lab: Lab, roles: Roles) -> bool:
    """Whether, before long, every sender has in force what its switch port tells, and the switch
    hears so."""
    deadline_s = lab.clock.now_s() + SETTLES_S
    while not all(map(_same, dcbx_seen(lab, roles))):
        if lab.clock.now_s() >= deadline_s:
            return False
        lab.clock.sleep(ASKED_EVERY_S)
    return True


def _same(pair: tuple[DcbxState, DcbxState]) -> bool:
    host, switch = pair
    told, heard = (each and each.pfc for each in (switch.told, switch.heard))
    return told is not None and told == host.in_force == heard
