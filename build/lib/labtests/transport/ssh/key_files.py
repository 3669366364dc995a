"""Key files are read once for many hosts, not by each host for each kind of key it might hold."""

import threading
from pathlib import Path
from typing import Any

import paramiko

_NO_FILE = 0

_lock = threading.Lock()  # guards the files, not state: devices are connected in parallel
_keys: dict[tuple[Any, ...], paramiko.PKey | str] = {}
"""The key, or why there is none of that kind."""


class Client(paramiko.SSHClient):
    """paramiko's client; a key file without a passphrase is read again only when it has changed."""

    def _key_from_filepath(self, filename: str, klass: type[paramiko.PKey], password: Any) -> Any:
        """Raises SSHException when the file holds no key of this kind."""
        read = super()._key_from_filepath  # type: ignore[misc]
        if password is not None:
            return read(filename, klass, password)  # nothing that is secret is kept
        with _lock:
            place = (filename, klass, _changed_ns(filename), _changed_ns(f"{filename}-cert.pub"))
            if place not in _keys:
                try:
                    _keys[place] = read(filename, klass, None)
                except paramiko.PasswordRequiredException:
                    raise
                except paramiko.SSHException as error:
                    _keys[place] = str(error)
            key = _keys[place]
        if isinstance(key, str):
            raise paramiko.SSHException(key)
        return key


def _changed_ns(name: str) -> int:
    try:
        return Path(name).expanduser().stat().st_mtime_ns
    except OSError:
        return _NO_FILE
