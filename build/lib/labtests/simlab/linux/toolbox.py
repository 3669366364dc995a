"""All tools that an emulated host has installed."""

from labtests.simlab.linux.builtins import SHELLS
from labtests.simlab.linux.calls import Call, Tools
from labtests.simlab.linux.commands import (
    ethtool,
    files,
    ip,
    mausezahn,
    mlnx_qos,
    mlxconfig,
    picking,
    ping,
    printing,
    rdma,
    signals,
    system,
    tc,
    testing,
    text,
    watching,
    wrappers,
)
from labtests.simlab.linux.iperf3 import program as iperf3
from labtests.simlab.linux.options import NotEmulated
from labtests.simlab.linux.perftest import running as perftest

ELSEWHERE = (
    *(
        "column",
        "diff",
        "dmesg",
        "free",
        "ibstat",
        "ibv_devices",
        "journalctl",
        "less",
    ),
    *("lspci", "more", "nano", "nice", "nproc", "nstat", "su", "top", "tr"),
    *("uniq", "uptime", "vi", "vim", "xargs"),
)
"""What an engineer may type as well, and has on a whole host."""
BOX = "the simulated box is no whole Linux host"


PYTHONS = ("python", "python3")
"""What modules of Ansible bring programs for: they end with a sentence, not with a riddle."""
MODES = ("chmod", "chown")
"""The first that such a module asks for."""


def _not_here(call: Call) -> int:
    call.err(f"bash: line 1: {call.name}: command not found ({BOX})\n")
    return 127


def _no_python(call: Call) -> int:
    raise NotEmulated("Python; of Ansible, use raw")


def _no_modes(call: Call) -> int:
    raise NotEmulated("modes of files; of Ansible, whose modules bring Python, use raw")


def _kill(call: Call) -> int:
    return signals.kill(call, complain=lambda reason: call.err(f"{reason}\n"))


TOOLS: Tools = {
    **files.TOOLS,
    **text.TOOLS,
    **picking.TOOLS,
    **watching.TOOLS,
    **wrappers.TOOLS,
    **system.TOOLS,
    **signals.TOOLS,
    **SHELLS,
    **mlnx_qos.TOOLS,
    **mlxconfig.TOOLS,
    **ethtool.TOOLS,
    **rdma.TOOLS,
    **ip.TOOLS,
    **tc.TOOLS,
    **ping.TOOLS,
    **mausezahn.TOOLS,
    **perftest.TOOLS,
    **iperf3.TOOLS,
    "echo": printing.echo,
    "printf": printing.printf,
    "test": testing.test,
    "[": testing.test,
    "kill": _kill,
    **dict.fromkeys(ELSEWHERE, _not_here),
    **dict.fromkeys(PYTHONS, _no_python),
    **dict.fromkeys(MODES, _no_modes),
}

_OF_HOSTS = (mlnx_qos, mlxconfig, ethtool, rdma, perftest, iperf3)
OF_ANY_BOX: Tools = {
    name: tool
    for name, tool in TOOLS.items()
    if not any(name in module.TOOLS for module in _OF_HOSTS)
}
"""Those that need no NIC of a host."""
