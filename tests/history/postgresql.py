"""A PostgreSQL server of a test: on a socket in a folder of its own, ended by its own control."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_ELSEWHERE = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)


def programs() -> Path | None:
    """The folder that has `initdb` and `pg_ctl`."""
    found = shutil.which("initdb")
    there = [Path(found).parent] if found else []
    return next((place for place in [*there, *_ELSEWHERE] if (place / "pg_ctl").exists()), None)


def account() -> str | None:
    """Who can run it: root cannot, and asks the account that Debian makes for it."""
    if os.geteuid():
        return pwd.getpwuid(os.geteuid()).pw_name
    try:
        user = pwd.getpwnam("postgres").pw_name
    except KeyError:
        return None
    # initdb looks itself up: not everywhere may an account read who it is
    seen = subprocess.run([*_as(user), "id", "-un"], capture_output=True, text=True, check=False)
    return user if seen.stdout.strip() == user else None


@contextmanager
def server() -> Iterator[str]:
    """Serves until the end; the beginning of a URL behind which a database's name is missing."""
    place, user = programs(), account()
    assert place is not None
    assert user is not None
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))  # a socket's path is short
    shutil.chown(folder, user)
    data = folder / "data"
    ask = ["-D", str(data), "-s", "-w", "-t", "60"]
    served = f"-c listen_addresses='' -k {folder} -c fsync=off"
    try:
        _run(user, place / "initdb", "-D", str(data), "-A", "trust", "-U", "labtests", "-N")
        _run(user, place / "pg_ctl", *ask, "-l", str(folder / "log"), "-o", served, "start")
        try:
            yield f"postgresql://labtests@/{{}}?host={folder}"
        finally:
            _run(user, place / "pg_ctl", *ask, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _as(user: str) -> list[str]:
    if os.geteuid():
        return []
    return ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "--inh-caps=-all"]


def _run(user: str, program: Path, *words: str) -> None:
    done = subprocess.run(
        [*_as(user), str(program), *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        text=True, cwd="/", check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
