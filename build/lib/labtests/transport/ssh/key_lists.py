"""Files that say which host keys are good, or are not: read only where no other user can write."""

import base64
from pathlib import Path

import paramiko
from paramiko.hostkeys import HostKeyEntry, InvalidHostKey

from labtests.core.output import excerpt
from labtests.core.private_files import NotPrivate
from labtests.core.trusted_files import NotAFile, credible
from labtests.transport.ssh.learning import MOST_BYTES

LONGEST_LINE = 2**16
"""An RSA key of 16384 bits has 3000 characters; the rest are names of hosts."""
_BEGINNING_OF_KRL = b"SSHKRL"


class Unbelieved(paramiko.SSHException):
    """A file of keys cannot be gone by: no host is trusted. The text has the remedy."""


def known_text(file: Path, beside: Path | None) -> str:
    """What a known_hosts file says. "" where there is none: then nothing is known of the host, and
    it is refused. `beside` is the folder of the testbed file that names it: whoever has made that
    one is believed here, too. Raises Unbelieved."""
    try:
        text = credible(file, beside, most_bytes=MOST_BYTES).decode("utf-8", errors="replace")
    except NotPrivate as error:
        raise Unbelieved(str(error)) from error
    except NotAFile as error:  # what it says may be that a key is revoked
        raise Unbelieved(f"{error}\n  remedy: split it, or name another one") from error
    except (FileNotFoundError, NotADirectoryError) as error:
        if file.exists():  # /dev/fd/3: what is open has no path that could be looked at
            raise Unbelieved(f"{file} is not a file of a folder\n  remedy: a copy") from error
        return ""
    except OSError as error:  # the same
        told = f"{file} cannot be read: {error.strerror}"
        raise Unbelieved(f"{told}\n  remedy: make it readable, or name another one") from error
    if any(len(line) > LONGEST_LINE for line in text.split("\n")):
        raise Unbelieved(
            f"{file} has a line of more than {LONGEST_LINE} characters, which is not read\n"
            "  remedy: give its hosts a line each"
        )
    return text


def is_listed(key: paramiko.PKey, file: Path) -> bool:
    """Whether RevokedHostKeys of ssh_config has it. As with OpenSSH, a file that is not a list of
    keys lets no host pass. Raises Unbelieved."""
    try:
        content = credible(file, most_bytes=MOST_BYTES)
    except NotPrivate as error:
        raise Unbelieved(f"RevokedHostKeys: {error}") from error
    except (OSError, NotAFile) as error:
        raise _unusable(file, f"cannot be read: {error}") from error
    if content.startswith(_BEGINNING_OF_KRL):
        raise _unusable(file, "is a binary key revocation list, which is not read here")
    return any(_has(line.strip(), key, file) for line in content.decode("latin-1").split("\n"))


def _has(line: str, key: paramiko.PKey, file: Path) -> bool:
    if not line or line.startswith("#"):
        return False
    fields = line.split()
    try:
        _expect_key(*fields[:2])
        entry = HostKeyEntry.from_line(f"revoked {fields[0]} {fields[1]}")
    except (TypeError, InvalidHostKey, paramiko.SSHException, ValueError) as error:
        told = f"has a line that is not a public key: {excerpt(line, 60)!r}"
        raise _unusable(file, told) from error
    return entry is not None and entry.key == key  # None: of a kind that nobody shows here


def _expect_key(kind: str, coded: str) -> None:
    """It says twice of which kind it is, as every key does: a line with something before the key
    would list none. Raises ValueError."""
    blob = base64.b64decode(coded, validate=True)
    if not blob.startswith(len(kind).to_bytes(4) + kind.encode()):
        raise ValueError("not a key of that kind")


def _unusable(file: Path, why: str) -> Unbelieved:
    return Unbelieved(
        f"RevokedHostKeys {file} {why}; so no host key is trusted\n"
        "  remedy: a text file with one public key in each line, or `ssh_config: false` in the "
        "testbed file"
    )
