"""Other users of the machine do not reach a lab's management network: they could hold all the
connections that its sshds accept before a login. A rule of the machine's routing says so, by user.
"""

from labtests.linuxlab.programs import attempt

_ALL_BUT_ROOT = "1-4294967294"  # only root makes labs, and has their keys
_MOST = 8
LACKING = (
    "no routing rules by user (CONFIG_IP_MULTIPLE_TABLES): other users of this machine can dial "
    "the lab's sshds, and keep others out by holding connections"
)


def _rule(network: str) -> list[str]:
    return ["to", network, "uidrange", _ALL_BUT_ROOT, "prohibit"]


def keep_out(network: str) -> bool:
    """None of them reaches this network now; False where the kernel cannot do that."""
    let_in(network)  # whatever an `up` that was killed has left
    return attempt(["ip", "rule", "add", *_rule(network)]).returncode == 0


def let_in(network: str) -> None:
    """The rule is gone, if there was one."""
    for _ in range(_MOST):
        if not network or attempt(["ip", "rule", "del", *_rule(network)]).returncode != 0:
            return
