"""The guide's example is a valid testbed."""

import re
from collections.abc import Callable
from pathlib import Path

from labtests.inventory import Testbed

GUIDE = Path(__file__).parents[2] / "docs/testbeds.md"


def test_the_example_of_the_guide_is_valid_and_means_what_the_guide_says(
    loaded: Callable[[str], Testbed],
) -> None:
    example = re.search(r"```yaml\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    assert example is not None

    lab = loaded(example[1])

    assert lab.device("A").management.jump == "ops@bastion"
    assert lab.device("S").management.password_env == "RACK7_SWITCH"
    assert [str(end) for end in lab.roles["receiver"]] == ["B:eth5"]
