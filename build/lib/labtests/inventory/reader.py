"""From a testbed file to a Testbed, or to the list of everything that is wrong with the file."""

from collections.abc import Collection
from dataclasses import fields
from pathlib import Path
from types import MappingProxyType
from typing import Any

from labtests.core.errors import InventoryError
from labtests.inventory.document import Readable, read_file
from labtests.inventory.form import check_form
from labtests.inventory.linux_lab import check_linux_lab, linux_lab, reached_in_lab
from labtests.inventory.names import split_address
from labtests.inventory.platforms import known_platforms
from labtests.inventory.precedence import setting
from labtests.inventory.references import check_references, resolved
from labtests.inventory.schema import (
    DeviceForm,
    LeaseForm,
    LinkForm,
    PortForm,
    Settings,
    TelemetryForm,
    TestbedFile,
)
from labtests.inventory.testbed import (
    Device,
    Endpoint,
    LeasePlace,
    Link,
    Management,
    Port,
    TelemetryPlace,
    Testbed,
    TlsFiles,
    Vlan,
)


def load(named: Readable | Path | str, *, platforms: Collection[str] | None = None) -> Testbed:
    """The lab that a testbed file describes.

    Raises InventoryError with every mistake of the file, NotPrivate for one that its source does
    not believe. `platforms` are the known ones; unless given, those that have a driver.
    """
    source = Readable.of(named)
    file, document = source.path, read_file(source)
    tree, mistakes = document.tree, document.mistakes
    model = None
    if tree is not None or not mistakes.lines():
        model = check_form(tree, mistakes)
        known = known_platforms() if platforms is None else frozenset(platforms)
        check_references(tree, known, mistakes)
        check_linux_lab(tree, mistakes)
    lines = mistakes.lines()
    if lines or model is None:
        raise InventoryError(lines)
    return _testbed(model, tree, file)


def _testbed(model: TestbedFile, tree: object, file: Path) -> Testbed:
    devices = tuple(_device(name, part, tree, file) for name, part in model.devices.items())
    lab = linux_lab(model.linux_lab)
    return Testbed(
        name=model.name,
        file=file,
        description=model.description,
        devices=devices if lab is None else reached_in_lab(model.name, devices),
        links=tuple(_link(part, tree) for part in model.links),
        roles=MappingProxyType(
            {role: tuple(_endpoint(tree, t) for t in texts) for role, texts in model.roles.items()}
        ),
        lease=_lease(model.lease, by_default="lease" not in model.model_fields_set),
        linux_lab=lab,
    )


def _lease(part: LeaseForm | None, *, by_default: bool) -> LeasePlace | None:
    if part is None:
        return None
    return LeasePlace(
        host=part.host,
        path=part.path,
        expires_after_s=part.expires_after_s,
        by_default=by_default,
    )


def _device(name: str, part: DeviceForm, tree: object, file: Path) -> Device:
    platform = setting(tree, name, "platform")
    assert platform is not None
    return Device(
        name=name,
        platform=platform.value,
        management=_management(name, part.management.host, tree, file.parent),
        ports=tuple(_port(name, interface, port) for interface, port in part.ports.items()),
        groups=tuple(part.groups),
        telemetry=_telemetry(part.telemetry, file.parent),
    )


def _telemetry(part: TelemetryForm | None, folder: Path) -> TelemetryPlace | None:
    if part is None:
        return None
    tls = None
    if part.tls is not None:
        names = ("ca", "certificate", "key")
        files = {name: _absolute(folder, getattr(part.tls, name)) for name in names}
        tls = TlsFiles(**files, server_name=part.tls.server_name)
    told = part.model_dump(exclude={"tls", "insecure"})
    return TelemetryPlace(**told, tls=tls)


def _absolute(folder: Path, text: str) -> str:
    return str((folder / Path(text).expanduser()).absolute())


def _management(device: str, host: str, tree: object, folder: Path) -> Management:
    found = {key: setting(tree, device, key) for key in Settings.model_fields}
    given: dict[str, Any] = {
        key: value.value for key, value in found.items() if value and value.value is not None
    }
    for key in ("key_file", "known_hosts"):
        if key in given:
            given[key] = _absolute(folder, given[key])
    if "known_hosts" in given:
        given["known_hosts_beside"] = str(folder.absolute())
    assert set(given) <= {field.name for field in fields(Management)}
    return Management(host=host, **given)


def _port(device: str, interface: str, part: PortForm | None) -> Port:
    address, prefix_length = None, None
    if part is not None and part.address is not None:
        address, prefix_length = split_address(part.address)
    return Port(
        device=device,
        interface=interface,
        rdma=None if part is None else part.rdma,
        address=address,
        prefix_length=prefix_length,
        vlan=_vlan(part),
    )


def _vlan(part: PortForm | None) -> Vlan | None:
    if part is None or part.vlan is None:
        return None
    told = part.vlan
    egress = None if told.egress is None else tuple(sorted(told.egress.items()))
    return Vlan(id=told.id, name=told.name, egress=egress)


def _link(part: LinkForm, tree: object) -> Link:
    a, b = (_endpoint(tree, text) for text in part.between)
    return Link(
        a=a, b=b, speed_bits_per_s=round(part.speed_gbit_per_s * 1e9), length_m=part.length_m
    )


def _endpoint(tree: object, text: str) -> Endpoint:
    endpoint = resolved(tree, text)
    assert isinstance(endpoint, Endpoint)
    return endpoint
