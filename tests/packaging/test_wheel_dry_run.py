"""Dry runs with nothing but a wheel, in an empty folder. Each compiles the packet network anew."""

import pytest

pytestmark = pytest.mark.timeout(1000)  # beside others a compiler takes minutes

FOREIGN = """
name: two-into-one
defaults: {user: lab, become: true, platform: connectx}
devices:
  left: {management: {host: 10.0.0.1}, ports: {eth4: {address: 10.9.0.1/24}}}
  right: {management: {host: 10.0.0.2}, ports: {eth4: {address: 10.9.0.2/24}}}
  sink: {management: {host: 10.0.0.3}, ports: {eth4: {address: 10.9.0.3/24}}}
  spine:
    platform: sonic
    management: {host: 10.0.0.9}
    ports: {Ethernet0: {}, Ethernet4: {}, Ethernet8: {}}
links:
  - {between: ["left:eth4", "spine:Ethernet0"], speed_gbit_per_s: 10, length_m: 3}
  - {between: ["right:eth4", "spine:Ethernet4"], speed_gbit_per_s: 10, length_m: 3}
  - {between: ["sink:eth4", "spine:Ethernet8"], speed_gbit_per_s: 10, length_m: 3}
roles: {senders: [left, right], receiver: sink}
"""


def test_a_suite_that_came_with_the_wheel_runs_on_a_testbed_that_did(asked, tmp_path):
    told = asked(
        "pytest", "--pyargs", "labtests.suites.test_below_bottleneck",
        "--testbed", "h3c-s6550-cx4", "--dry-run", seconds=900,
    )  # fmt: skip
    assert told.returncode == 0, told.stdout + told.stderr
    assert "1 passed" in told.stdout
    (folder,) = (tmp_path / "reports" / "h3c-s6550-cx4").glob("2*")
    assert (folder / "report.html").is_file()
    assert (tmp_path / "reports" / "history.sqlite").is_file()
    listed = asked("labtests", "history", "list")
    assert "PASS: 1 pass" in listed.stdout


def test_a_suite_that_was_begun_runs_on_a_testbed_of_somebody_else(asked, tmp_path):
    """As docs/writing-suites.md says."""
    assert asked("labtests", "new", "suite", "half_load").returncode == 0
    (tmp_path / "my-lab.yaml").write_text(FOREIGN)
    words = ("test_half_load.py", "--testbed", "my-lab.yaml", "--dry-run")
    told = asked("pytest", *words, seconds=900)
    assert told.returncode == 0, told.stdout + told.stderr
    assert "negative control failed, as required (150 % of line rate)" in told.stdout
