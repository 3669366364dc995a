"""Under which lease something is done that was handed over, and which testbed file may say so."""

from pathlib import Path
from typing import Any

import pytest
from handed import TESTBED, Dialled, journal_of, known_under, leased, restore, snapshot_of

from labtests.inventory import Device, LeasePlace, Management, load
from labtests.journal.known import remember

pytestmark = pytest.mark.usefixtures("own_state")
FIRST = Device(name="g", platform="linux", management=Management(host="192.0.2.6", user="root"))
EVERY_DAY = LeasePlace(path="/var/tmp/labtests-lab")


@pytest.mark.parametrize(
    ("lease", "told"),
    [
        (
            leased(path="/etc/systemd/system/ssh.service.d"),
            "/etc/systemd/system/ssh.service.d of h",
        ),
        ({"lease": None}, "no lease"),
        (leased(), "/var/tmp/labtests-lease of h"),
    ],
)
def test_another_lease_than_that_of_its_devices_is_said_and_asked(
    tmp_path: Path, dialled: Dialled, lease: dict[str, Any], told: str
) -> None:
    known_under(EVERY_DAY, tmp_path)
    journal_of(tmp_path / "run", {}, lease)
    done = restore("run", said="n\n")
    assert (done.exit_code, dialled.hosts, told in done.output) == (2, [], True), done.output
    journal_of(tmp_path / "run", {}, leased(path=EVERY_DAY.path))
    assert restore("run").exit_code == 10  # as every day: nobody is asked, and nobody answers
    assert dialled.hosts == ["192.0.2.7"]


def test_so_is_the_same_folder_on_another_host(tmp_path: Path, dialled: Dialled) -> None:
    """A journal without the first host would have the lease on the second one."""
    known_under(EVERY_DAY, tmp_path, FIRST)
    journal_of(tmp_path / "run", {}, leased(path=EVERY_DAY.path))
    done = restore("run", said="n\n")
    assert (done.exit_code, dialled.hosts) == (2, []), done.output
    assert "/var/tmp/labtests-lab of h" in done.output


def test_with_a_testbed_file_the_lease_is_that_of_all_its_devices(
    tmp_path: Path, dialled: Dialled
) -> None:
    journal_of(tmp_path / "run", {}, {"lease": None})
    first = "\n  g: {platform: linux, management: {host: 192.0.2.6, user: root}}\n"
    (tmp_path / "lab.yaml").write_text(TESTBED.replace("devices:\n", f"devices:{first}"))
    restore("run", "--testbed", "lab.yaml")
    assert sorted(dialled.hosts) == ["192.0.2.6", "192.0.2.66"]
    dialled.hosts.clear()
    restore("run", "--testbed", "lab.yaml", "--without-lease")
    assert dialled.hosts == ["192.0.2.66"]


def test_a_testbed_file_that_others_can_write_is_not_done_because_a_snapshot_names_it(
    tmp_path: Path, dialled: Dialled
) -> None:
    path = snapshot_of(tmp_path, {"mtu": 1500})
    remember(load(tmp_path / "lab.yaml"))
    (tmp_path / "lab.yaml").chmod(0o666)
    done = restore(str(path), "--yes")
    assert ("not believed" in done.output, dialled.hosts) == (True, []), done.output


SECRETS = {
    "shadow": "root:*:20228:0:99999:7:::\nada:$y$j9T$abc:20228:0:99999:7:::\n",
    "key": "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk\n-----END OPENSSH KEY-----\n",
    "env": "hunter22: yes\nname: x\ndevices: {hunter22: {}}\n",
    "alias": "a: *hunter22\n",
}


@pytest.mark.parametrize("kind", SECRETS)
def test_no_word_is_told_of_a_file_that_a_snapshot_names(
    tmp_path: Path, dialled: Dialled, kind: str
) -> None:
    path = snapshot_of(tmp_path, {"mtu": 1500})
    (tmp_path / "lab.yaml").write_text(SECRETS[kind])
    done = restore(str(path), "--yes")
    assert (done.exit_code, "--testbed" in done.output, dialled.hosts) == (2, True, [])
    for word in ("20228", "$y$", "b3Blb", "BEGIN", "hunter22"):
        assert word not in done.output
