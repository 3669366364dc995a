"""The form of a testbed file, as pydantic models. They know forms, not what names refer to."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, WithJsonSchema

from labtests.inventory.names import (
    Address,
    Description,
    EndpointText,
    EnvironmentName,
    FilePath,
    FolderPath,
    Host,
    Interface,
    Jump,
    LabName,
    Name,
    RdmaDevice,
    User,
)
from labtests.inventory.testbed import LEASE_EXPIRES_AFTER_S, LEASE_PATH, LONGEST_INTERFACE

SLOWEST_GBIT_PER_S, FASTEST_GBIT_PER_S = 0.001, 3200
GbitPerS = Annotated[float, Field(ge=SLOWEST_GBIT_PER_S, le=FASTEST_GBIT_PER_S)]
CableM = Annotated[float, Field(gt=0, le=100_000)]


class _TestbedForm(BaseModel):
    """Strict: no conversions, no unknown keys."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Settings(_TestbedForm):
    """How to reach devices. A device's own value wins, then its groups in order, then defaults."""

    user: User | None = Field(default=None, description="Login name; else ~/.ssh/config decides.")
    port: Annotated[int, Field(ge=1, le=65535)] | None = Field(
        default=None, description="SSH port, 22 unless given."
    )
    jump: Jump | None = Field(default=None, description="Jump hosts, as OpenSSH's ProxyJump.")
    password_env: EnvironmentName | None = Field(
        default=None, description="Name of the environment variable that holds the password."
    )
    key_file: FilePath | None = Field(
        default=None, description="Private key file; relative paths start at this file's folder."
    )
    become: bool | Literal["commands"] | None = Field(
        default=None,
        description="true: run everything under `sudo -n`; commands: only each single program that "
        "needs root (docs/security.md has the sudoers file).",
    )
    host_keys: Literal["strict", "accept-new"] | None = Field(
        default=None, description="strict refuses unknown SSH host keys; accept-new learns them."
    )
    known_hosts: FilePath | None = Field(
        default=None, description="known_hosts file instead of the user's own."
    )
    ssh_config: bool | None = Field(default=None, description="Honour ~/.ssh/config (true).")
    legacy_ssh: bool | None = Field(
        default=None, description="Offer CBC, MD5 and SHA-1, too: for old switches only."
    )


class Defaults(Settings):
    """What holds for every device that does not say otherwise."""

    platform: Name | None = Field(default=None, description="A module of labtests/drivers.")


class Group(Defaults):
    """What holds for the devices that list this group."""


class ManagementForm(Settings):
    """How to reach one device."""

    host: Host = Field(description="DNS name, name of ~/.ssh/config, or IP address.")


_KEY = BeforeValidator(lambda key: int(key) if isinstance(key, str) and key.isdecimal() else key)
SocketPriority = Annotated[int, Field(ge=0, le=15), _KEY]
Pcp = Annotated[int, Field(ge=0, le=7)]


class VlanForm(_TestbedForm):
    """The VLAN interface that has a port's address. labtests does not make it."""

    id: Annotated[int, Field(ge=1, le=4094)]
    name: Annotated[Interface, Field(max_length=LONGEST_INTERFACE)] | None = Field(
        default=None, description="Of the interface; IF.100 unless given."
    )
    egress: dict[SocketPriority, Pcp] | None = Field(
        default=None,
        description="Its egress-qos-map, 802.1p by Linux's socket priority: held against the "
        "host's own. Unless given, the host's own is taken.",
    )


class PortForm(_TestbedForm):
    """One port of a device."""

    rdma: RdmaDevice | None = Field(
        default=None, description="RDMA device, e.g. mlx5_0; discovered when left out."
    )
    address: Address | None = Field(default=None, description="IPv4, e.g. 192.168.10.10/24.")
    vlan: VlanForm | None = Field(
        default=None, description="Of a host: the address is on this port's VLAN interface."
    )


class TlsForm(_TestbedForm):
    """Who trusts whom in a stream. Files are PEM; relative paths start at this file's folder."""

    ca: FilePath = Field(description="Who has signed the other end's certificate.")
    certificate: FilePath = Field(description="The certificate that labtests shows.")
    key: FilePath = Field(description="Its private key, readable by its owner alone.")
    server_name: Host | None = Field(
        default=None, description="What the switch's certificate is for, if not its address."
    )


class TelemetryForm(_TestbedForm):
    """What a switch streams while a lab is open (docs/telemetry.md)."""

    kind: Literal["gnmi", "dial-out"] = Field(
        description="gnmi: labtests subscribes at the switch; dial-out: the switch connects to us."
    )
    port: Annotated[int, Field(ge=0, le=65535)] = Field(
        description="TCP port of the gNMI server, or ours that the switch dials (0: a free one)."
    )
    address: Host | None = Field(
        default=None, description="dial-out: ours, as the switch reaches it."
    )
    sample_every_s: Annotated[int, Field(ge=1, le=3600)] = 1
    encoding: Literal["json_ietf", "proto"] = "json_ietf"
    tls: TlsForm | None = None
    insecure: bool = Field(default=False, description="true: without TLS, said explicitly.")
    user: User | None = Field(default=None, description="gnmi: login name; else that of SSH.")
    password_env: EnvironmentName | None = Field(
        default=None, description="gnmi: the variable with the password; else that of SSH."
    )
    watermarks_every_s: Annotated[int, Field(ge=1, le=60)] | None = Field(
        default=None, description="A switch that polls watermarks does so as often, in a run."
    )
    drop_alarms: bool = Field(
        default=True, description="Comware: the switch is told to push what it drops, in a run."
    )
    cell_bytes: Annotated[int, Field(ge=1, le=65_536)] | None = Field(
        default=None, description="One memory cell of this model, where headroom is set in cells."
    )


class DeviceForm(_TestbedForm):
    """One box."""

    platform: Name | None = Field(default=None, description="A module of labtests/drivers.")
    groups: list[Name] = Field(default=[], description="Groups; the first that has a value wins.")
    management: ManagementForm
    ports: dict[Interface, PortForm | None] = Field(default={}, description="Ports by interface.")
    telemetry: TelemetryForm | None = Field(
        default=None, description="Its streams; off unless given (docs/telemetry.md)."
    )


class LinkForm(_TestbedForm):
    """A cable between two ports."""

    between: Annotated[list[EndpointText], Field(min_length=2, max_length=2)] = Field(
        description="Two ports, each Device:interface."
    )
    speed_gbit_per_s: GbitPerS = Field(
        description="The speed the link runs at, which may be below what the port can do."
    )
    length_m: CableM = Field(description="Cable length.")


class LeaseForm(_TestbedForm):
    """Where it is written down who has the lab (docs/lease.md)."""

    host: Name | None = Field(default=None, description="A Linux host; unless given, the first.")
    path: FolderPath = Field(default=LEASE_PATH, description="A folder there, made if need be.")
    expires_after_s: Annotated[int, Field(ge=15, le=3600)] = Field(
        default=LEASE_EXPIRES_AFTER_S,
        description="A run's lease runs out so long after its last heartbeat.",
    )


class LinuxLabEcnForm(_TestbedForm):
    """RED with ECN at every queue, where the kernel has it."""

    min_bytes: Annotated[int, Field(ge=3000)] = Field(description="Marks begin at this length.")
    max_bytes: Annotated[int, Field(ge=3000)] = Field(description="Here the probability is full.")
    probability: Annotated[float, Field(gt=0, le=1)] = 0.1


class LinuxLabForm(_TestbedForm):
    """The devices are network namespaces of this machine: `labtests linuxlab up` makes them."""

    runner_address: Address = Field(
        description="The runner's own in the management network, e.g. 10.255.0.254/24."
    )
    mtu: Annotated[int, Field(ge=1280, le=9216)] = Field(default=1500, description="In bytes.")
    queue_limit_bytes: Annotated[int, Field(ge=3000, le=2**30)] = Field(
        default=2**20, description="What each of the eight queues of a switch port may hold."
    )
    scheduling: Literal["equal", "strict", "weighted"] = Field(
        default="equal", description="Of the queues of a switch port; strict: queue 7 first."
    )
    weights: (
        Annotated[list[Annotated[int, Field(ge=1, le=100)]], Field(min_length=8, max_length=8)]
        | None
    ) = Field(default=None, description="Of queues 0 to 7, with scheduling: weighted.")
    shaped_senders: bool = Field(default=True, description="Hosts send at most at link speed.")
    ecn: LinuxLabEcnForm | None = Field(
        default=None, description="Marking; without it queues only drop."
    )


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


_ENDPOINT_SCHEMA = TypeAdapter(EndpointText).json_schema()
Ports = Annotated[
    list[EndpointText],
    Field(min_length=1),
    BeforeValidator(_listed),
    WithJsonSchema(
        {
            "anyOf": [
                _ENDPOINT_SCHEMA,
                {"type": "array", "items": _ENDPOINT_SCHEMA, "minItems": 1},
            ]
        }
    ),
]


class TestbedFile(_TestbedForm):
    """A lab: its devices, the cables between them, and who plays which role."""

    __test__ = False

    name: LabName = Field(description="The lab's name; reports carry it.")
    description: Description = ""
    defaults: Defaults = Defaults()
    groups: dict[Name, Group] = {}
    devices: Annotated[dict[Name, DeviceForm], Field(min_length=1)]
    links: list[LinkForm] = []
    lease: LeaseForm | None = Field(
        default=LeaseForm(), description="Who has the lab; empty (`lease: ~`) for none."
    )
    roles: dict[Name, Ports] = Field(
        default={},
        description="senders (in order) and receiver (exactly one); other roles are free.",
    )
    linux_lab: LinuxLabForm | None = Field(
        default=None, description="A lab of network namespaces (docs/linux-lab.md)."
    )


def json_schema() -> dict[str, Any]:
    """The JSON Schema of testbed files, for editors."""
    schema = TestbedFile.model_json_schema()
    _forbid_other_keys(schema)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "labtests testbed",
    }


def _forbid_other_keys(schema: Any) -> None:
    """Editors flag a badly formed name too: pydantic lets keys pass that fit no pattern."""
    if isinstance(schema, dict):
        if "patternProperties" in schema:
            schema["additionalProperties"] = False
        for part in schema.values():
            _forbid_other_keys(part)
    elif isinstance(schema, list):
        for part in schema:
            _forbid_other_keys(part)
