"""Everything pytest gets from labtests is in the plugin."""

import sys
from importlib.util import find_spec

USAGE_ERROR = 4

if missing := [name for name in ("labtests", "pydantic", "paramiko") if find_spec(name) is None]:
    sys.stderr.write(
        f"this pytest has no {', '.join(missing)}: it is not the one of this project. "
        "Run .venv/bin/pytest (`make setup` makes it), or `. .venv/bin/activate` first.\n"
    )
    sys.exit(USAGE_ERROR)
pytest_plugins = ["labtests.pytest_plugin"]
