"""`display lldp neighbor-information verbose`: who is at the other end of each cable.

Form: ntc-templates, hp_comware display_lldp_neighbor-information_verbose. Hosts announce what lldpd
does by default (port by MAC address, description by interface), switches their interface's name.
"""

from labtests.inventory import Endpoint
from labtests.simlab.comware.displays import lines
from labtests.simlab.face import Announced


def verbose(shown: list[tuple[int, str, Announced]]) -> str:
    """(number, full name, who is there) of each port with a neighbour."""
    return "\n".join(_block(number, port, each) for number, port, each in shown)


def _block(number: int, port: str, each: Announced) -> str:
    return lines(
        f"LLDP neighbor-information of port {number}[{port}]:",
        "LLDP agent nearest-bridge:",
        " LLDP neighbor index : 1",
        " Update time         : 0 days, 0 hours, 1 minutes, 1 seconds",
        " Chassis type        : MAC address",
        f" Chassis ID          : {each.chassis}",
        f" Port ID type        : {each.port_id_type}",
        f" Port ID             : {each.port_id}",
        " Time to live        : 120",
        f" Port description    : {each.description}",
        f" System name         : {each.name}",
    )


def endpoint(text: str) -> Endpoint | None:
    """`Device:interface` of a fault; None for nobody."""
    device, _, interface = text.partition(":")
    return Endpoint(device=device, interface=interface) if interface else None
