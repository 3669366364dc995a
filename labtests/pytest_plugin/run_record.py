"""What run.json says of a run as a whole."""

import shlex
import sys
from datetime import UTC, datetime
from typing import Any, Protocol

import pytest

from labtests import __version__
from labtests.inventory import Testbed
from labtests.lab.lab import Lab
from labtests.pytest_plugin.preflight import Preflight
from labtests.pytest_plugin.proof import Proof

MODELLED = (
    "packets, shared buffer, PFC, WRED/ECN, DCQCN and go-back-N of a switch and its hosts; not "
    "firmware, cables, optics or vendor defects (docs/simulated-lab.md)."
)


class RecordedRun(Protocol):
    """What is recorded of a run."""

    config: pytest.Config
    testbed: Testbed
    started: datetime
    versions: dict[str, dict[str, str]]
    lab: Lab | None
    proof: Proof
    preflight: Preflight
    not_run: list[str]
    problem: str
    exit_code: int | None

    @property
    def dry(self) -> bool:
        """Whether the lab is a simulated one."""
        ...

    @property
    def backend(self) -> str:
        """The word that every verdict is stamped with."""
        ...


def told(run: RecordedRun) -> dict[str, Any]:
    """The run as docs/run-json.md describes it, but for its tests; secrets are still in it."""
    return {
        "format": "labtests-run/1",
        "lab": {
            "name": run.testbed.name,
            "file": str(run.testbed.file),
            "description": run.testbed.description,
            "devices": [
                {
                    "name": device.name,
                    "platform": device.platform,
                    "roles": _roles(run.testbed, device.name),
                    "versions": run.versions.get(device.name, {}),
                }
                for device in run.testbed.devices
            ],
        },
        "backend": run.backend,
        "modelled": MODELLED if run.backend == "simulated" else "",
        "seed": run.config.getoption("seed") if run.dry else None,
        "started": run.started.isoformat(timespec="seconds"),
        "ended": datetime.now(UTC).isoformat(timespec="seconds"),
        "command_line": shlex.join(["pytest", *run.config.invocation_params.args]),
        "labtests_version": __version__,
        "python_version": sys.version.split()[0],
        "exit_code": run.exit_code,
        "problem": run.problem,
        "journal": "journal.jsonl",
        "check": run.preflight.plain(),
        "state": run.proof.plain(),
        "changed_by_others": list(run.lab.overridden) if run.lab else [],
        "tests": [],
        "not_run": run.not_run,
    }


def _roles(testbed: Testbed, device: str) -> list[str]:
    return [role for role, ends in testbed.roles.items() if any(e.device == device for e in ends)]
