"""ib_send_bw, ib_write_bw and ib_read_bw as commands."""

from labtests.simlab.linux.calls import Call, Tools
from labtests.simlab.linux.perftest.plan import VERBS, read_plan, usage
from labtests.simlab.linux.perftest.running import PerftestRun
from labtests.simlab.linux.processes import Program


def _perftest(call: Call) -> Program:
    build = call.host.perftest_build
    plan, options = read_plan(call.name, call.arguments)
    if "V" in options or "h" in options:
        version = call.host.faults.defects.perftest or build.version
        call.out(f"Version: {version}\n" if "V" in options else usage(call.name))
        return 1
    return (yield from PerftestRun(call, plan, build).program())


TOOLS: Tools = dict.fromkeys(VERBS, _perftest)
