"""A testbed as tables for the terminal."""

from collections.abc import Iterable

from rich.table import Table
from rich.text import Text

from labtests.core.console import table_console
from labtests.inventory.testbed import Device, Endpoint, Management, Port, Testbed

Row = tuple[str, ...]


def show(testbed: Testbed) -> None:
    """Prints devices, ports, links and roles."""
    console = table_console()
    console.print(Text(f"{testbed.name}: {testbed.description or 'no description'}"))
    console.print(Text(str(testbed.file)))
    devices = map(_device, testbed.devices)
    console.print(_table("devices", ("device", "platform", "management", "groups"), devices))
    ports = (_port(testbed, port) for device in testbed.devices for port in device.ports)
    console.print(_table("ports", ("device", "interface", "RDMA", "address", "linked to"), ports))
    links = (
        (str(link.a), str(link.b), f"{link.speed_bits_per_s / 1e9:g} Gb/s", f"{link.length_m:g} m")
        for link in testbed.links
    )
    console.print(_table("links", ("port", "port", "speed", "length"), links))
    if (lease := testbed.lease) is not None:
        where = f"{lease.host or 'the first Linux host'}:{lease.path}"
        console.print(Text(f"lease: {where}, runs out after {lease.expires_after_s:g} s"))
    roles = ((role, ", ".join(map(str, ends))) for role, ends in testbed.roles.items())
    console.print(_table("roles", ("role", "ports"), roles))


def _table(title: str, columns: Row, rows: Iterable[Row]) -> Table:
    table = Table(title=title, title_justify="left")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def _device(device: Device) -> Row:
    groups = ", ".join(device.groups)
    return (device.name, device.platform, _management(device.management), groups)


def _management(management: Management) -> str:
    user = f"{management.user}@" if management.user else ""
    notes = [f"via {management.jump}"] if management.jump else []
    notes += ["sudo -n"] if management.become else []
    notes += [f"password from ${management.password_env}"] if management.password_env else []
    notes += ["accepts new host keys"] if management.host_keys == "accept-new" else []
    return ", ".join([f"{user}{management.host}:{management.port}", *notes])


def _port(testbed: Testbed, port: Port) -> Row:
    peer: Endpoint | None = testbed.peer(port.endpoint)
    address = port.address or ""
    if port.prefix_length is not None:
        address += f"/{port.prefix_length}"
    if port.vlan is not None:
        address += f" on VLAN {port.vlan.id}"
    rdma = port.rdma or ("discovered" if address else "")
    return (port.device, port.interface, rdma, address, str(peer) if peer else "not cabled")
