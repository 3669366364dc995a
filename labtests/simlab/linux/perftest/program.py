"""ib_send_bw, ib_write_bw and ib_read_bw as commands."""

from importlib import resources

from labtests.simlab.linux.calls import Call, Tools
from labtests.simlab.linux.perftest.plan import VERBS, PerftestRejected, read_plan
from labtests.simlab.linux.perftest.running import PerftestRun
from labtests.simlab.linux.processes import Program


def _perftest(call: Call) -> Program:
    build = call.host.perftest_build
    try:
        plan, options = read_plan(call.name, call.arguments)
    except PerftestRejected as refusal:
        if refusal.usage:
            call.out(_usage(call.name))
        call.err(f"{refusal} Parser function exited with Error\n")
        return 1
    if "V" in options or "h" in options:
        version = call.host.faults.defects.perftest or build.version
        call.out(f"Version: {version}\n" if "V" in options else _usage(call.name))
        return 1
    return (yield from PerftestRun(call, plan, build).program())


def _usage(tool: str) -> str:
    """The text of perftest 6.06 for ib_send_bw, as recorded; the others' differ in a few lines."""
    text = resources.files(__package__).joinpath("usage.txt").read_text("utf-8")
    return text.replace("ib_send_bw", tool)


TOOLS: Tools = dict.fromkeys(VERBS, _perftest)
