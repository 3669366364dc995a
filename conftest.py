"""One line: everything pytest gets from labtests is in the plugin."""

pytest_plugins = ["labtests.pytest_plugin"]
