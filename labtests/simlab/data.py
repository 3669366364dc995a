"""Tables of a platform that are files beside its modules."""

import json
from pathlib import Path
from typing import Any


def beside(module: str, name: str) -> dict[str, Any]:
    """What NAME.json holds in the folder of this module (`__file__`)."""
    found: dict[str, Any] = json.loads(Path(module).with_name(f"{name}.json").read_text("utf-8"))
    return found
