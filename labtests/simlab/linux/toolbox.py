"""All tools that an emulated host has installed."""

from labtests.simlab.linux.calls import Call, Tools
from labtests.simlab.linux.commands import (
    awk,
    ethtool,
    files,
    ip,
    mausezahn,
    mlnx_qos,
    ping,
    printing,
    rdma,
    sed,
    signals,
    system,
    tc,
    testing,
    text,
    watching,
    wrappers,
)
from labtests.simlab.linux.iperf3 import program as iperf3
from labtests.simlab.linux.perftest import program as perftest


def _kill(call: Call) -> int:
    return signals.kill(call, complain=lambda reason: call.err(f"{reason}\n"))


TOOLS: Tools = {
    **files.TOOLS,
    **text.TOOLS,
    **awk.TOOLS,
    **sed.TOOLS,
    **watching.TOOLS,
    **wrappers.TOOLS,
    **system.TOOLS,
    **signals.TOOLS,
    **mlnx_qos.TOOLS,
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
}

_OF_HOSTS = (mlnx_qos, ethtool, rdma, perftest, iperf3)
OF_ANY_BOX: Tools = {
    name: tool
    for name, tool in TOOLS.items()
    if not any(name in module.TOOLS for module in _OF_HOSTS)
}
"""Those that need no NIC of a host."""
