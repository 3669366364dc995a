"""What `ip` does with VXLAN devices: made, given an address, shown in JSON."""

from labtests.simlab.linux.calls import Call
from labtests.simlab.linux.options import NotEmulated, Refused
from labtests.simlab.linux.tunnels import VxlanDevice, shown

_SHOW = {"j", "json", "d", "details"}


def tunnel_in_json(call: Call, words: list[str], flags: set[str]) -> str:
    """`-j -d addr show dev NAME`. Raises Refused, NotEmulated."""
    *asked, name = words or [""]
    if not flags <= _SHOW or asked != ["addr", "show", "dev"]:
        raise NotEmulated(" ".join(call.argv))
    tunnel = call.host.tunnels.named(name)
    if tunnel is not None:
        return shown(tunnel)
    if any(name == each.interface for port in call.host.ports for each in port.shown()):
        raise NotEmulated("ip -j of anything but a VXLAN device")
    raise Refused(f'Device "{name}" does not exist.\n')


def change_of_tunnel(call: Call, kind: str, words: list[str]) -> bool:
    """Whether it was a change of a VXLAN device, which is made then. Raises Refused."""
    making = words[0] == "add" and words[2:4] == ["type", "vxlan"]
    name = words[words.index("dev") + 1] if "dev" in words[:-1] else ""
    tunnel = call.host.tunnels.named(name)
    if not making and tunnel is None:
        return False
    if call.process.user != "root":
        raise Refused("RTNETLINK answers: Operation not permitted\n", 2)
    if call.host.faults.lies:
        return True
    if making:
        call.host.tunnels.add(words[1], words[4:], call.host.port)
    elif tunnel is not None and not _changed(call, tunnel, (kind[0], *words)):
        raise NotEmulated(" ".join(call.argv))
    return True


def _changed(call: Call, tunnel: VxlanDevice, words: tuple[str, ...]) -> bool:
    """Whether these words are known: `l` of link or `a` of address, and the rest."""
    match words:
        case ("l", "del" | "delete", "dev", _):
            call.host.tunnels.remove(tunnel.name)
        case ("a", "add", address, "dev", _):
            call.host.tunnels.give(tunnel, address)
        case ("l", "set", "dev", _, "up" | "down" as state):
            tunnel.up = state == "up"
        case _:
            return words[1:] == ("set", "dev", tunnel.name, "addrgenmode", "none")
    return True
