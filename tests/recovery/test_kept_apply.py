"""A profile that was applied to stay, and a device that reboots: what it had is gone from there."""

import json
import time

from recovery_lab import ROOT, Project, everything, opened

from labtests.core.errors import LabErrors
from labtests.simlab.injection import inject

PROFILE = str(ROOT / "profiles" / "lossless-25g.yaml")
BOOTED = "S6550"
BOOTS_WITHIN_S = 20.0


def seen(project: Project) -> dict[str, object]:
    with opened(project.testbed) as lab:
        return everything(lab)


def applied(project: Project, folder: str) -> set[str]:
    """The devices that an apply into this run folder has changed."""
    testbed = str(project.testbed_file)
    code, said = project.labtests("apply", PROFILE, "--testbed", testbed, "--run-dir", folder)
    assert code == 0, said
    lines = (project.folder / folder / "changes.jsonl").read_text().splitlines()
    return {line["device"] for line in map(json.loads, lines) if line["kind"] == "change"}


def reboot(project: Project) -> dict[str, object]:
    """Everything that is set when the switch is back."""
    inject(project.served.directory, {"kind": "reboot", "device": BOOTED, "seconds": 0.2})
    until_s = time.monotonic() + BOOTS_WITHIN_S
    while True:
        try:
            return seen(project)
        except LabErrors:
            assert time.monotonic() < until_s
            time.sleep(0.1)


def differing(now: dict[str, object], then: dict[str, object]) -> set[str]:
    return {name.split(":")[0].split()[0] for name in now if now[name] != then[name]}


def test_a_reboot_undoes_what_was_applied_there_and_nothing_else(project: Project) -> None:
    found = seen(project)
    everybody = {device.name for device in project.testbed.devices}
    assert applied(project, "kept") == everybody
    made = seen(project)

    assert differing(reboot(project), found) == everybody - {BOOTED}
    assert applied(project, "again") == {BOOTED}
    assert seen(project) == made
    reboot(project)

    code, said = project.labtests("restore", "kept")
    assert code == 0, said
    rows = [line for line in said.splitlines() if line.startswith(("restored", "already"))]
    of_switch = {row.split(BOOTED)[0].strip() for row in rows if BOOTED in row}
    of_hosts = {row.split("Server")[0].strip() for row in rows if BOOTED not in row}
    assert (of_switch, of_hosts) == ({"already as it was"}, {"restored"})
    assert seen(project) == found
