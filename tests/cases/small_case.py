"""The case that the tests change: two hosts send to a third."""

from pathlib import Path

from labtests.network.cases import CaseFile, load

LINKS = """\
links:
  - {between: [a, s], rate_gbit_per_s: 25, length_m: 5}
  - {between: [b, s], rate_gbit_per_s: 25, length_m: 5}
  - {between: [c, s], rate_gbit_per_s: 25, length_m: 5}
flows:
  - {source: a, target: c}
  - {source: b, target: c, priority: 5}
"""
SMALL = f"""\
name: small
duration_ms: 2
hosts: {{a: , b: , c: }}
switches: {{s: }}
nic: {{pfc: [3]}}
switch: {{pfc: [3]}}
{LINKS}"""


def case(folder: Path, text: str) -> CaseFile:
    file = folder / "case.yaml"
    file.write_text(text, encoding="utf-8")
    return load(file)
