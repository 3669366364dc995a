"""Testbed files: one YAML file per lab becomes frozen records, or the list of all its mistakes."""

from labtests.inventory.document import Readable
from labtests.inventory.finding import chosen, is_path, located, to_dial
from labtests.inventory.names import plain_host
from labtests.inventory.reader import load
from labtests.inventory.recorded import expect_place, expect_sound, is_name
from labtests.inventory.schema import json_schema
from labtests.inventory.testbed import (
    LINUX_LAB_FOLDER,
    Device,
    Endpoint,
    LeasePlace,
    Link,
    LinuxLab,
    LinuxLabEcn,
    Management,
    NotInTestbed,
    Port,
    TelemetryPlace,
    Testbed,
    TlsFiles,
    Vlan,
)

__all__ = [
    "LINUX_LAB_FOLDER",
    "Device",
    "Endpoint",
    "LeasePlace",
    "Link",
    "LinuxLab",
    "LinuxLabEcn",
    "Management",
    "NotInTestbed",
    "Port",
    "Readable",
    "TelemetryPlace",
    "Testbed",
    "TlsFiles",
    "Vlan",
    "chosen",
    "expect_place",
    "expect_sound",
    "is_name",
    "is_path",
    "json_schema",
    "load",
    "located",
    "plain_host",
    "to_dial",
]
