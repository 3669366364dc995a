"""Beside pyproject.toml for one thing: a wheel also brings the suites, testbeds and profiles, as
labtests/suites, labtests/testbeds and labtests/profiles. A clone has them in this folder."""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

SHIPPED = {"suites": "test_*.py", "testbeds": "*.yaml", "profiles": "*.yaml"}
DOCSTRING = (
    '"""The suites that come with labtests: `pytest --pyargs labtests.suites --testbed FILE`."""\n'
)


class WithSuites(build_py):
    """What setuptools builds, and these files."""

    def run(self) -> None:
        """See setuptools."""
        super().run()
        if self.editable_mode:
            return
        for folder, pattern in SHIPPED.items():
            target = Path(self.build_lib) / "labtests" / folder
            for file in sorted(Path(folder).rglob(pattern)):
                copied = target / file.relative_to(folder)
                self.mkpath(str(copied.parent))
                self.copy_file(str(file), str(copied))
        (Path(self.build_lib) / "labtests" / "suites" / "__init__.py").write_text(DOCSTRING)


setup(cmdclass={"build_py": WithSuites})
