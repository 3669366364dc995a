"""Files that say which host keys are good, or are not: read only where no other user can write."""

from pathlib import Path

import paramiko
from paramiko.hostkeys import HostKeyEntry, InvalidHostKey

from labtests.core.output import excerpt
from labtests.core.private_files import NotPrivate, expect_credible
from labtests.core.trusted_files import NotAFile, handed
from labtests.transport.ssh.learning import MOST_BYTES

LONGEST_LINE = 2**14
"""Of one that is looked at: an RSA key of 16384 bits has 3000 characters."""
_BEGINNING_OF_KRL = b"SSHKRL"


class Unbelieved(paramiko.SSHException):
    """A file of keys cannot be gone by: no host is trusted. The text has the remedy."""


def known_text(file: Path, beside: Path | None) -> str:
    """What a known_hosts file says. "" where there is none: then nothing is known of the host, and
    it is refused. `beside` is the folder of the testbed file that names it: whoever has made that
    one is believed here, too. Raises Unbelieved."""
    try:
        expect_credible(file, beside)
        text = handed(file, most_bytes=MOST_BYTES).decode("utf-8", errors="replace")
        return "\n".join(line for line in text.split("\n") if len(line) <= LONGEST_LINE)
    except NotPrivate as error:
        raise Unbelieved(str(error)) from error
    except (OSError, NotAFile):
        return ""


def is_listed(key: paramiko.PKey, file: Path) -> bool:
    """Whether RevokedHostKeys of ssh_config has it. As with OpenSSH, a file that is not a list of
    keys lets no host pass. Raises Unbelieved."""
    try:
        content = handed(file, most_bytes=MOST_BYTES)
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
        entry = HostKeyEntry.from_line(f"revoked {fields[0]} {fields[1]}")
    except (IndexError, InvalidHostKey, paramiko.SSHException, ValueError) as error:
        raise _unusable(
            file, f"has a line that is not a public key: {excerpt(line, 60)!r}"
        ) from error
    return entry is not None and entry.key == key  # None: of a kind that nobody shows here


def _unusable(file: Path, why: str) -> Unbelieved:
    return Unbelieved(
        f"RevokedHostKeys {file} {why}; so no host key is trusted\n"
        "  remedy: a text file with one public key in each line, or `ssh_config: false` in the "
        "testbed file"
    )
