"""What pytest finds in an environment that has labtests (entry point `pytest11`).

It brings the plugin, once, after conftest.py files have been read: options of a project that have
the names of ours are the project's, and ours step aside (pytest_plugin/options.py).
"""

from collections.abc import Iterator

import pytest

PLUGIN = "labtests.pytest_plugin"


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Iterator[None]:
    """See pytest. A conftest.py that names the plugin has loaded it already."""
    yield
    early_config.pluginmanager.import_plugin(PLUGIN)
