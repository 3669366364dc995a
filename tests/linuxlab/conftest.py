"""Whether this machine may have a lab of namespaces at all."""

import shutil
import subprocess

import pytest

from labtests.core.errors import LabError
from labtests.linuxlab.programs import expect_able


def _why_not() -> str:
    try:
        expect_able()
    except LabError as error:
        return str(error)
    unshare = [shutil.which("unshare") or "unshare", "--net", "--uts", "--pid", "--mount", "--fork"]
    tried = subprocess.run([*unshare, "true"], capture_output=True, text=True, check=False)
    return tried.stderr.strip()


@pytest.fixture(scope="session")
def machine() -> None:
    """Skips with the reason where no lab can be made."""
    reason = _why_not()
    if reason:
        pytest.skip(f"no lab of network namespaces can be made here: {reason}")
