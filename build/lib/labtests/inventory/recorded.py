"""Devices that come from another file than a testbed file, by the testbed file's own rules."""

from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from pydantic import TypeAdapter, ValidationError

from labtests.core.errors import InventoryError
from labtests.inventory.names import FilePath, Interface, Name
from labtests.inventory.schema import DeviceForm, LeaseForm
from labtests.inventory.testbed import Device, Endpoint, LeasePlace, Management, Port

_NAME, _INTERFACE, _PATH = TypeAdapter(Name), TypeAdapter(Interface), TypeAdapter(FilePath)
_LONGEST_LEASE_S = 3600


def expect_sound(devices: Iterable[Device], lease: LeasePlace | None, *, place: str) -> None:
    """Each of them could stand in a testbed file. Raises InventoryError with all that could not,
    without the values: they may be secrets."""
    mistakes = [wrong for device in devices for wrong in _mistakes(device, place)]
    if lease is not None and not _is_lease(lease):
        mistakes.append(f"{place}: lease: not as a testbed file has it")
    if mistakes:
        raise InventoryError(mistakes)


def expect_place(at: Endpoint, devices: Iterable[Device], *, place: str) -> None:
    """It is a port of one of them, or one of them itself. Raises InventoryError."""
    known = any(at.device == device.name for device in devices)
    if not known or not (at.interface == "" or _fits(_INTERFACE, at.interface)):
        raise InventoryError([f"{place}: it changes a port that its devices do not have"])


def is_name(text: object) -> bool:
    """Whether it is a name as a testbed file has them."""
    return _fits(_NAME, text)


def _mistakes(device: Device, place: str) -> list[str]:
    known = type(device) is Device and type(device.management) is Management
    if not known or not _fits(_NAME, device.name):
        return [f"{place}: a device is not as a testbed file has it"]
    where = f"{place}: device {device.name}"
    if any(type(port) is not Port or port.device != device.name for port in device.ports):
        return [f"{where}: a port is not as a testbed file has it"]
    if type(device.platform) is not str:  # a file may leave it to a group: a record may not
        return [f"{where}: platform: not as a testbed file has it"]
    try:
        DeviceForm.model_validate(_part(device))
    except (ValidationError, TypeError) as error:
        errors = error.errors(include_url=False) if isinstance(error, ValidationError) else []
        return [f"{where}: {'.'.join(map(str, e['loc']))}: {e['msg']}" for e in errors] or [
            f"{where}: not as a testbed file has it"
        ]
    return []


def _part(device: Device) -> dict[str, Any]:
    reached = device.management
    given = {field.name: getattr(reached, field.name) for field in fields(reached)}
    beside = given.pop("known_hosts_beside")
    if beside is not None and not _fits(_PATH, beside):
        raise TypeError("no folder")
    return {
        "platform": device.platform,
        "groups": list(device.groups),
        "management": {key: value for key, value in given.items() if value is not None},
        "ports": {port.interface: _port(port) for port in device.ports},
    }


def _port(port: Port) -> dict[str, Any]:
    mask = "" if port.prefix_length is None else f"/{port.prefix_length}"
    address = None if port.address is None else f"{port.address}{mask}"
    vlan: dict[str, Any] | None = None
    if port.vlan is not None:
        egress = port.vlan.egress
        vlan = {"id": port.vlan.id, "name": port.vlan.name}
        vlan |= {} if egress is None else {"egress": dict(egress)}
    return {"rdma": port.rdma, "address": address, "vlan": vlan}


def _is_lease(lease: LeasePlace) -> bool:
    after_s = lease.expires_after_s
    if type(lease) is not LeasePlace or type(after_s) not in (int, float):
        return False
    try:
        LeaseForm.model_validate({"host": lease.host, "path": lease.path})
    except ValidationError:
        return False
    return 0 < after_s <= _LONGEST_LEASE_S and type(lease.by_default) is bool


def _fits(form: TypeAdapter[Any], text: object) -> bool:
    try:
        form.validate_python(text, strict=True)
    except ValidationError:
        return False
    return True
