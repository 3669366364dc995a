"""Who and what this host is: hostname, uname, id, date, ps, which, systemctl, ss and others."""

import re
from datetime import datetime, timedelta
from itertools import pairwise

from labtests.simlab.defects import LAB_EPOCH as START
from labtests.simlab.linux.calls import Call, Tool, Tools
from labtests.simlab.linux.options import NotEmulated, Refused, only, read_options
from labtests.simlab.linux.processes import HostProcess, Program

KERNEL = "5.15.0-105-generic"
KERNEL_BUILD = "#115-Ubuntu SMP Mon Apr 15 09:52:04 UTC 2024"


def wall_clock(call: Call) -> datetime:
    """The host's time: the lab starts at START."""
    ahead = timedelta(seconds=call.host.faults.defects.clock_ahead_s)
    return START + timedelta(microseconds=call.host.kernel.now_ns // 1000) + ahead


def system_info(host_name: str) -> str:
    """`uname -a` without its last word, as iperf3 prints it."""
    return f"Linux {host_name} {KERNEL} {KERNEL_BUILD} x86_64"


def _hostname(call: Call) -> str:
    only(call.arguments, "-I", "-s", "-f")
    if call.arguments[:1] == ("-I",):
        return " ".join(port.address for port in call.host.ports if port.address) + " \n"
    return call.host.name + "\n"


def _uname(call: Call) -> str:
    values = {"s": "Linux", "n": call.host.name, "r": KERNEL, "v": KERNEL_BUILD}
    values |= {"m": "x86_64", "o": "GNU/Linux"}
    options, words = read_options(call.arguments, "-asnrvmo")
    only(words)
    letters = "".join(options) or "s"
    if "a" in letters:
        return f"{system_info(call.host.name)} x86_64 x86_64 GNU/Linux\n"
    return " ".join(values[letter] for letter in "snrvmo" if letter in letters) + "\n"


def _id(call: Call) -> str:
    user, number = call.process.user, 0 if call.process.user == "root" else 1000
    asked = {"-u": f"{number}\n", "-un": f"{user}\n"}
    only(call.arguments, *asked)
    whole = f"uid={number}({user}) gid={number}({user}) groups={number}({user})\n"
    return asked.get("".join(call.arguments), whole)


_FORMAT = re.compile("%[aAbBdeFHIjmMpsSTuwyYzZDRNn%]")


def _date(call: Call) -> str:
    now = wall_clock(call)
    words = [word for word in call.arguments if word not in ("-u", "--utc")]
    form = words.pop(0)[1:] if words and words[0][:1] == "+" else "%a %b %e %H:%M:%S UTC %Y"
    only([*words, *_FORMAT.sub("", form).partition("%")[1:2]], "")
    form = form.replace("%N", f"{call.host.kernel.now_ns % 10**9:09}")
    return now.strftime(form.replace("%s", str(int(now.timestamp())))) + "\n"


def _which(call: Call) -> int:
    status = 0
    read_options(call.arguments, "-")
    for name in call.arguments:
        if call.host.program(name) is None:
            status = 1
        else:
            call.out(call.host.path_of(name) + "\n")
    return status


def _ps(call: Call) -> int:
    words = list(call.arguments)
    processes = list(call.host.kernel.living())
    if "-p" in words[:-1]:
        at = words.index("-p")
        wanted = words[at + 1].split(",")
        processes = [process for process in processes if str(process.pid) in wanted]
        del words[at : at + 2]
    header, columns = _layout(words)
    if unknown := set(columns) - _COLUMNS:
        raise NotEmulated(f"ps -o {min(unknown)}")
    call.out(header)
    for process in processes:
        call.out(" ".join(_cell(process, column) for column in columns).rstrip(" ") + "\n")
    return int(not processes)


_WIDTHS = {"pid": 7, "ppid": 7, "pgid": 7, "sid": 7, "user": -8, "stat": -4, "comm": -15}
_FULL = (
    "UID          PID    PPID  C STIME TTY          TIME CMD\n",
    ["user", "pid", "ppid", " 0 08:00 ?        00:00:00", "args"],
)
_OF_BSD = (
    "USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND\n",
    ["user", "pid", " 0.0  0.0   9876  3456 ?        S    08:00   0:00", "args"],
)
_OF_ALL = ("-e", "-A", "ax", "-ww")
_COLUMNS = {"pid", "ppid", "pgid", "pgrp", "sid", "user", "stat", "state", "comm", "etimes", "args"}
_COLUMNS |= {"cmd", "command", *_FULL[1], *_OF_BSD[1], "?        00:00:00"}
_SHORT = ("    PID TTY          TIME CMD\n", ["pid", "?        00:00:00", "comm"])


def _layout(words: list[str]) -> tuple[str, list[str]]:
    """The header and the columns: those of `-o a,b=`, or those that the options stand for."""
    for option, columns in pairwise(words):
        if option in ("-o", "-eo", "-Ao", "o", "axo"):
            only([*words[: words.index(option)], *words[words.index(columns) + 1 :]], *_OF_ALL)
            names = [column.partition("=")[0].strip() for column in columns.split(",")]
            bare = all("=" in column for column in columns.split(","))
            return "" if bare else _titles(names), names
    only(words, *_OF_ALL, "aux", "-aux", "-ef", "-eF", "-f")
    if "aux" in "".join(words):
        return _OF_BSD
    return _FULL if any("f" in word.lower() for word in words) else _SHORT


def _titles(names: list[str]) -> str:
    commands = dict.fromkeys(("args", "cmd", "comm", "command"), "COMMAND")
    titles = [_aligned(commands.get(name, name.upper()), name) for name in names]
    return " ".join(titles).rstrip(" ") + "\n"


def _aligned(text: str, name: str) -> str:
    width = _WIDTHS.get(name, -1)
    return text.rjust(width) if width > 0 else text.ljust(-width)


def _cell(process: HostProcess, name: str) -> str:
    values = {
        "pid": str(process.pid),
        "ppid": str(process.parent_pid),
        "pgid": str(process.group),
        "pgrp": str(process.group),
        "sid": str(process.group),
        "user": process.user,
        "stat": "S",
        "state": "S",
        "comm": process.name,
        "etimes": str((process.kernel.now_ns - process.started_ns) // 10**9),
    }
    return _aligned(values.get(name, name if " " in name else process.command_line), name)


def _systemctl(call: Call) -> int:
    _, words = read_options(call.arguments, "-q,--quiet --no-pager --now")
    only(words[:1], "is-active", "stop", "disable", "status")
    only(words[2:])
    if words[:1] == ["is-active"] and len(words) > 1:
        unit = words[1].removesuffix(".service")
        active = unit in _known_units(call)
        if "--quiet" not in call.arguments and "-q" not in call.arguments:
            call.out("active\n" if active else "inactive\n")
        return 0 if active else 3
    if words[:1] in (["stop"], ["disable"]) and len(words) > 1:
        only([words[1].removesuffix(".service")], "lldpad")
        call.host.faults.lldpad = False
        return 0
    unit = words[1].removesuffix(".service") if len(words) > 1 else ""
    if words[:1] != ["status"] or unit not in _known_units(call):
        raise Refused(f"Unit {unit}.service could not be found.\n", 4)
    call.out(f"● {unit}.service\n     Loaded: loaded\n     Active: active (running)\n")
    return 0


def _known_units(call: Call) -> set[str]:
    return {"ssh", "sshd", *(["lldpad"] if call.host.faults.lldpad else [])}


def _ss(call: Call) -> str:
    """Only listening TCP sockets; an rdma_cm listener is none."""
    options, words = read_options(call.arguments, "-tlnpuH4")
    if "l" not in options or words:
        raise NotEmulated("ss of anything but listening sockets, without a filter")
    ports = [(22, "sshd", 1)]
    for (device, service, port), listener in call.host.lab.listeners.items():
        if device == call.host.name and service == "tcp":
            ports.append((port, listener.process.name, listener.process.pid))
    header = "State  Recv-Q Send-Q Local Address:Port Peer Address:PortProcess\n"
    lines = ["" if "H" in options else header]
    for port, name, pid in ports if "u" not in options or "t" in options else []:
        who = f'users:(("{name}",pid={pid},fd=3))' if "p" in options else ""
        lines.append(f"LISTEN 0      128          0.0.0.0:{port:<5}    0.0.0.0:*    {who}\n")
    return "".join(lines)


def _uptime(call: Call) -> str:
    return (
        f" {wall_clock(call):%H:%M:%S} up 1 day, "
        f"{call.host.kernel.now_ns // 60_000_000_000} min,  1 user,  "
        "load average: 0.00, 0.00, 0.00\n"
    )


def _ofed_info(call: Call) -> str:
    if call.arguments != ("-s",):
        raise NotEmulated("ofed_info without -s")
    return f"{call.host.faults.defects.ofed}:\n"  # as NVIDIA's releases


def _lspci(call: Call) -> str:
    """The NICs only; the wording is that of pci.ids for a ConnectX-4 EN."""
    nic = "Ethernet controller: Mellanox Technologies MT27700 Family [ConnectX-4]"
    return "".join(f"03:00.{port.index} {nic}\n" for port in call.host.ports)


def _alone(tool: Tool) -> Tool:
    """It has no options here, and no operands."""

    def run(call: Call) -> int | str | Program:
        only(call.arguments)
        return tool(call)

    return run


TOOLS: Tools = {
    "true": lambda call: 0,
    "false": lambda call: 1,
    "hostname": _hostname,
    "uname": _uname,
    "whoami": _alone(lambda call: call.process.user + "\n"),
    "id": _id,
    "date": _date,
    "which": _which,
    "ps": _ps,
    "systemctl": _systemctl,
    "ss": _ss,
    "ofed_info": _ofed_info,
    "nproc": _alone(lambda call: "16\n"),
    "uptime": _alone(_uptime),
    "lspci": _alone(_lspci),
}
