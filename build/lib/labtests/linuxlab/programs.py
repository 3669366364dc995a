"""Running the programs that make a lab, with errors that name the device and the remedy."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from labtests.core.errors import CommandRejected, CommandTimeout, LabError, LabErrors, ToolMissing

SEARCHED = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
WITHIN_S = 20.0
MACHINE = "this machine"
NAMESPACES = Path("/run/netns")  # where ip(8) has them by name

PACKAGES = {
    "ip": "iproute2",
    "tc": "iproute2",
    "bridge": "iproute2",
    "sshd": "openssh-server",
    "iperf3": "iperf3",
    "unshare": "util-linux",
}
"""What a lab needs, and the package that has it in Debian and most others."""

_REMEDIES = {
    "not permitted": "run it as root where network namespaces may be made; in a container that is "
    "one started with --privileged",
    "permission denied": "run it as root, outside of containers that forbid it",
    "unknown device type": "this kernel has no such links: load veth and bridge (modprobe), or use "
    "a kernel that has them",
    "qdisc kind is unknown": "this kernel lacks the queue discipline: modprobe sch_NAME, or use "
    "another kernel",
    "failed to find qdisc": "this kernel lacks the queue discipline: modprobe sch_NAME, or use "
    "another kernel",
}


def program(name: str) -> str:
    """Its path. Raises ToolMissing."""
    found = shutil.which(name, path=SEARCHED)
    if found is None:
        package = PACKAGES.get(name, name)
        raise ToolMissing(MACHINE, name, "is not installed", f"install it: apt install {package}")
    return found


def expect_able() -> None:
    """Root and every program are there, or one error says all that is not."""
    if os.geteuid() != 0:
        raise LabError(
            f"{MACHINE}: only root may make network namespaces\n"
            "  remedy: run it with sudo, or as root"
        )
    missing: list[LabError] = []
    for name in PACKAGES:
        try:
            program(name)
        except ToolMissing as error:
            missing.append(error)
    if missing:
        raise LabErrors("the lab needs programs that are not installed here", missing)


def run(words: Sequence[str], *, device: str = MACHINE, lines: Sequence[str] = ()) -> str:
    """What a command prints. `lines` are its input. Raises CommandRejected, CommandTimeout."""
    answer = attempt(words, device=device, lines=lines)
    if answer.returncode != 0:
        raise CommandRejected(device, " ".join(words), *_explained(answer.stderr, lines))
    return answer.stdout


def attempt(
    words: Sequence[str], *, device: str = MACHINE, lines: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    """The same, whatever its exit status."""
    try:
        return subprocess.run(
            [program(words[0]), *words[1:]],
            input="".join(f"{line}\n" for line in lines),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=WITHIN_S,
            close_fds=False,  # the lock of the labs is held until it ends (ledger.locked)
            env={"PATH": SEARCHED, "LC_ALL": "C"},
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise CommandTimeout(
            device,
            " ".join(words),
            f"not finished after {WITHIN_S:g} s",
            "look at the machine's load",
        ) from None


def batch(tool: str, namespace: str, lines: Sequence[str], *, device: str) -> None:
    """Many commands of ip, tc or bridge in a namespace ("" is the machine's own), in one go."""
    if lines:
        inside = ["-n", namespace] if namespace else []
        run([tool, *inside, "-batch", "-"], device=device, lines=lines)


def _explained(stderr: str, lines: Sequence[str]) -> tuple[str, str]:
    said = " ".join(stderr.split()) or "it failed without a message"
    number = said.rpartition("Command failed -:")[2].rstrip(" .")
    if number.isdigit() and int(number) <= len(lines):
        said += f" ({lines[int(number) - 1]})"
    for words, remedy in _REMEDIES.items():
        if words in said.lower():
            return said, remedy
    return said, "run `labtests linuxlab down`, then up again"
