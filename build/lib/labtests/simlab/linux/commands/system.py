"""Who and what this host is: hostname, uname, id, date, ps, which, systemctl, ss and others."""

import re
from datetime import datetime, timedelta

from labtests.simlab.defects import LAB_EPOCH as START
from labtests.simlab.linux.calls import Call, Tools
from labtests.simlab.linux.options import NotEmulated, Refused, only, read_options
from labtests.simlab.linux.processes import HostProcess

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
    title, row = _layout([word for word in words if word not in _OF_ALL])
    shown = [row.format_map(_columns(process)).rstrip(" ") for process in processes]
    call.out("".join(f"{line}\n" for line in [title, *shown] if line))
    return int(not processes)


_OF_ALL = ("-e", "-A", "ax", "-ww")
_LAYOUTS = {
    "-ef": (
        "UID          PID    PPID  C STIME TTY          TIME CMD",
        "{user:8} {pid:7} {ppid:7}  0 08:00 ?        00:00:00 {args}",
    ),
    "aux": (
        "USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND",
        "{user:8} {pid:7}  0.0  0.0   9876  3456 ?        S    08:00   0:00 {args}",
    ),
    "": ("    PID TTY          TIME CMD", "{pid:7} ?        00:00:00 {comm}"),
}
_WIDTHS = {"pid": ">7", "ppid": ">7", "pgid": ">7", "user": "8", "stat": "4", "comm": "15"}


def _layout(words: list[str]) -> tuple[str, str]:
    """The title and the form of a row: those of `-o a,b=`, or those that the options stand for."""
    if words[:-1] not in (["-o"], ["-eo"], ["-Ao"], ["o"], ["axo"]):
        only(words[1:])
        if "".join(words) not in _LAYOUTS:
            raise NotEmulated(f"ps {words[0]}")
        return _LAYOUTS["".join(words)]
    names = [column.partition("=")[0].strip() for column in words[-1].split(",")]
    only(names, *_WIDTHS, "etimes", "args", "cmd")
    row = " ".join(f"{{{name}:{_WIDTHS.get(name, '')}}}" for name in names)
    bare = all("=" in column for column in words[-1].split(","))
    commands = dict.fromkeys(("args", "cmd", "comm"), "COMMAND")
    titles = {name: commands.get(name, name.upper()) for name in names}
    return "" if bare else row.format_map(titles).rstrip(" "), row


def _columns(process: HostProcess) -> dict[str, int | str]:
    return {
        "pid": process.pid,
        "ppid": process.parent_pid,
        "pgid": process.group,
        "user": process.user,
        "stat": "S",
        "comm": process.name,
        "args": process.command_line,
        "cmd": process.command_line,
        "etimes": (process.kernel.now_ns - process.started_ns) // 10**9,
    }


def _systemctl(call: Call) -> int:
    """The service that can be in the way, and sshd, which cannot be stopped."""
    options, words = read_options(call.arguments, "-q,--quiet --no-pager --now")
    verb, name = [*words, "", ""][:2]
    only([verb, *words[2:]], "is-active", "stop", "disable", "status")
    unit, faults = name.removesuffix(".service"), call.host.faults
    active = unit in ("ssh", "sshd") or (unit == "lldpad" and faults.lldpad)
    if verb == "is-active":
        call.out("" if "q" in options else "active\n" if active else "inactive\n")
        return 0 if active else 3
    if verb != "status":
        only([unit], "lldpad")
        faults.lldpad = False
    elif not active:
        raise Refused(f"Unit {unit}.service could not be found.\n", 4)
    else:
        call.out(f"● {unit}.service\n     Loaded: loaded\n     Active: active (running)\n")
    return 0


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


def _ofed_info(call: Call) -> str:
    if call.arguments != ("-s",):
        raise NotEmulated("ofed_info without -s")
    return f"{call.host.faults.defects.ofed}:\n"  # as NVIDIA's releases


def _whoami(call: Call) -> str:
    only(call.arguments)
    return call.process.user + "\n"


TOOLS: Tools = {
    "true": lambda call: 0,
    "false": lambda call: 1,
    "hostname": _hostname,
    "uname": _uname,
    "whoami": _whoami,
    "id": _id,
    "date": _date,
    "which": _which,
    "ps": _ps,
    "systemctl": _systemctl,
    "ss": _ss,
    "ofed_info": _ofed_info,
}
