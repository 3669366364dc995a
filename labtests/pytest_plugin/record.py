"""Parts of run.json (docs/run-json.md): the lab of a run, and a test before it has run."""

import shlex
from typing import Any

from labtests.inventory import Device, Testbed

SSH_PORT = 22

Versions = dict[str, dict[str, str]]
"""By device: what its software and hardware call themselves."""


def lab_record(testbed: Testbed, versions: Versions) -> dict[str, Any]:
    """The devices with their roles and logins, and the links between them."""
    return {
        "name": testbed.name,
        "file": str(testbed.file),
        "description": testbed.description,
        "devices": [
            {
                "name": device.name,
                "platform": device.platform,
                "roles": _roles(testbed, device.name),
                "login": _login(device),
                "versions": versions.get(device.name, {}),
            }
            for device in testbed.devices
        ],
        "links": [
            {
                "ends": [{"device": e.device, "port": e.interface} for e in (link.a, link.b)],
                "speed_bits_per_s": link.speed_bits_per_s,
            }
            for link in testbed.links
        ],
    }


def blank_test(nodeid: str, title: str, rerun: str) -> dict[str, Any]:
    """The record of a test of which nothing is known yet."""
    return {
        "id": nodeid,
        "title": title,
        "outcome": "skipped",
        "duration_s": 0.0,
        "error": None,
        "rerun": rerun,
        "verdicts": [],
        "phases": [],
        "changes": [],
    }


def _login(device: Device) -> str:
    """How a person logs in there."""
    at = device.management
    words = ["ssh", f"{at.user}@{at.host}" if at.user else at.host]
    words[1:1] = ["-p", str(at.port)] if at.port != SSH_PORT else []
    words[1:1] = ["-J", at.jump] if at.jump else []
    return shlex.join(words)


def _roles(testbed: Testbed, device: str) -> list[str]:
    return [role for role, ends in testbed.roles.items() if any(e.device == device for e in ends)]
