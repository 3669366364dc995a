"""Which algorithms both sides of an SSH connection can do; and which side to change when none."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

LEGACY = "pip install 'labtests[legacy-ssh]'"
_OLD = ("sha1", "ssh-rsa", "ssh-dss", "-cbc", "arcfour", "3des", "md5", "rijndael")

# what paramiko says is missing: the server's list in its KEXINIT (RFC 4253 section 7.1), this
# side's in a Transport, and what the list is called in an sshd_config
_LISTS = {
    "kex algorithm": ("kex_algo_list", "preferred_kex", "KexAlgorithms"),
    "host key": ("server_key_algo_list", "preferred_keys", "HostKeyAlgorithms"),
    "ciphers": ("server_encrypt_algo_list", "preferred_ciphers", "Ciphers"),
    "macs": ("server_mac_algo_list", "preferred_macs", "MACs"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mismatch:
    """What a server offers of one kind and what this side can do, and how to fix it."""

    problem: str
    remedy: str


def is_old(algorithm: str) -> bool:
    """Whether it is offered only where the testbed file says `legacy_ssh: true`."""
    return any(old in algorithm.lower() for old in _OLD) and "rsa-sha2" not in algorithm


def mismatch(said: str, offered: Mapping[str, Sequence[str]], wire: object) -> Mismatch:
    """From paramiko's words, and the lists of both sides where they are known."""
    found = next((lists for words, lists in _LISTS.items() if words in said), None)
    if found is None or not offered.get(found[0]):
        return Mismatch(
            problem=f"no algorithm in common: {said}",
            remedy=f"an old switch that only speaks SHA-1 needs the older library: {LEGACY}",
        )
    theirs, name = offered[found[0]], found[2]
    ours = tuple(getattr(wire, found[1], ()))
    problem = f"no {name} in common: it offers only {', '.join(theirs)}"
    if all(is_old(algorithm) for algorithm in theirs):
        remedy = (
            f"the device's are old; this side can be changed to speak them: {LEGACY} for keys "
            "and key exchanges with SHA-1; in either case `legacy_ssh: true` in the testbed file"
        )
    else:
        remedy = (
            f"change the device's side: add one of these to {name} in its sshd_config: "
            f"{', '.join(ours)}"
        )
    return Mismatch(problem=problem, remedy=remedy)
