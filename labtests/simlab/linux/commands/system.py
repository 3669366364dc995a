"""Who and what this host is: hostname, uname, id, date, ps, which, systemctl, ss and others."""

from datetime import datetime, timedelta

from labtests.simlab.defects import LAB_EPOCH as START
from labtests.simlab.linux.calls import Call, Tools
from labtests.simlab.linux.options import BadOption, read_options
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


def _hostname(call: Call) -> int:
    if call.arguments[:1] == ("-I",):
        call.out(" ".join(port.address for port in call.host.ports if port.address) + " \n")
    else:
        call.out(call.host.name + "\n")
    return 0


def _uname(call: Call) -> int:
    values = {"s": "Linux", "n": call.host.name, "r": KERNEL, "v": KERNEL_BUILD}
    values |= {"m": "x86_64", "o": "GNU/Linux"}
    letters = "".join(word.lstrip("-") for word in call.arguments) or "s"
    if "a" in letters:
        call.out(f"{system_info(call.host.name)} x86_64 x86_64 GNU/Linux\n")
    else:
        call.out(" ".join(values[letter] for letter in "snrvmo" if letter in letters) + "\n")
    return 0


def _whoami(call: Call) -> int:
    call.out(call.process.user + "\n")
    return 0


def _id(call: Call) -> int:
    user, number = call.process.user, 0 if call.process.user == "root" else 1000
    if call.arguments[:1] == ("-u",):
        call.out(f"{number}\n")
    elif call.arguments[:1] == ("-un",):
        call.out(f"{user}\n")
    else:
        call.out(f"uid={number}({user}) gid={number}({user}) groups={number}({user})\n")
    return 0


def _date(call: Call) -> int:
    now = wall_clock(call)
    words = [word for word in call.arguments if word not in ("-u", "--utc")]
    if words and words[0].startswith("+"):
        form = words[0][1:].replace("%N", f"{call.host.kernel.now_ns % 10**9:09}")
        call.out(now.strftime(form.replace("%s", str(int(now.timestamp())))) + "\n")
    else:
        call.out(now.strftime("%a %b %e %H:%M:%S UTC %Y") + "\n")
    return 0


def _which(call: Call) -> int:
    status = 0
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
    columns = _columns(words)
    if columns is not None:
        _print_columns(call, processes, columns)
    elif "aux" in "".join(words).replace("-", ""):
        _print_aux(call, processes)
    elif any("f" in word for word in words):
        _print_full(call, processes)
    else:
        _print_short(call, processes)
    return int(not processes)


def _columns(words: list[str]) -> list[str] | None:
    """The columns of `-o a,b=`, None without -o."""
    for at, word in enumerate(words):
        if word in ("-o", "-eo", "-Ao", "o", "axo") and at + 1 < len(words):
            return words[at + 1].split(",")
    return None


def _print_columns(call: Call, processes: list[HostProcess], columns: list[str]) -> None:
    widths = {"pid": 7, "ppid": 7, "pgid": 7, "sid": 7, "user": -8, "stat": -4, "comm": -15}
    names = [column.partition("=")[0].strip() for column in columns]
    if not all("=" in column for column in columns):
        headers = [
            ("COMMAND" if name in ("args", "cmd", "comm", "command") else name.upper())
            for name in names
        ]
        call.out(_row(headers, names, widths))
    for process in processes:
        call.out(_row([_value(process, name) for name in names], names, widths))


def _row(values: list[str], names: list[str], widths: dict[str, int]) -> str:
    cells = []
    for at, (value, name) in enumerate(zip(values, names, strict=True)):
        width = widths.get(name, -1)
        last = at == len(names) - 1
        cells.append(value.rjust(width) if width > 0 else value if last else value.ljust(-width))
    return " ".join(cells) + "\n"


def _value(process: HostProcess, name: str) -> str:
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
        "etimes": "0",
    }
    return values.get(name, process.command_line)


def _print_aux(call: Call, processes: list[HostProcess]) -> None:
    call.out("USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND\n")
    for process in processes:
        call.out(
            f"{process.user:<8} {process.pid:7}  0.0  0.0   9876  3456 ?        S    08:00   0:00 "
            f"{process.command_line}\n"
        )


def _print_full(call: Call, processes: list[HostProcess]) -> None:
    call.out("UID          PID    PPID  C STIME TTY          TIME CMD\n")
    for process in processes:
        call.out(
            f"{process.user:<8} {process.pid:7} {process.parent_pid:7}  0 08:00 ?        00:00:00 "
            f"{process.command_line}\n"
        )


def _print_short(call: Call, processes: list[HostProcess]) -> None:
    call.out("    PID TTY          TIME CMD\n")
    for process in processes:
        call.out(f"{process.pid:7} ?        00:00:00 {process.name}\n")


def _systemctl(call: Call) -> int:
    words = [word for word in call.arguments if not word.startswith("-")]
    if words[:1] == ["is-active"] and len(words) > 1:
        unit = words[1].removesuffix(".service")
        active = unit in _known_units(call)
        if "--quiet" not in call.arguments and "-q" not in call.arguments:
            call.out("active\n" if active else "inactive\n")
        return 0 if active else 3
    if words[:1] in (["stop"], ["disable"]) and len(words) > 1:
        if words[1].removesuffix(".service") == "lldpad":
            call.host.faults.lldpad = False
        return 0
    unit = words[1].removesuffix(".service") if len(words) > 1 else ""
    if words[:1] != ["status"] or unit not in _known_units(call):
        call.err(f"Unit {unit}.service could not be found.\n")
        return 4
    call.out(f"● {unit}.service\n     Loaded: loaded\n     Active: active (running)\n")
    return 0


def _known_units(call: Call) -> set[str]:
    return {"ssh", "sshd", *(["lldpad"] if call.host.faults.lldpad else [])}


def _lldptool(call: Call) -> int:
    if call.host.faults.lldpad:
        call.out("")
        return 0
    call.err(
        "connect: Connection refused\nFailed to connect to lldpad - clif_open: Invalid argument\n"
    )
    return 255


def _ss(call: Call) -> int:
    """Only listening TCP sockets; an rdma_cm listener is none."""
    try:
        options, _ = read_options(call.arguments, "tlnpuaHx4")
    except BadOption as error:
        call.err(f"ss: {error}\n")
        return 255
    if "H" not in options:
        call.out("State  Recv-Q Send-Q Local Address:Port Peer Address:PortProcess\n")
    ports = [(22, "sshd", 1)]
    for (device, service, port), listener in call.host.lab.listeners.items():
        if device == call.host.name and service == "tcp":
            ports.append((port, listener.process.name, listener.process.pid))
    for port, name, pid in ports if "u" not in options or "t" in options else []:
        who = f'users:(("{name}",pid={pid},fd=3))' if "p" in options else ""
        call.out(f"LISTEN 0      128          0.0.0.0:{port:<5}    0.0.0.0:*    {who}\n")
    return 0


def _uptime(call: Call) -> int:
    call.out(
        f" {wall_clock(call):%H:%M:%S} up 1 day, "
        f"{call.host.kernel.now_ns // 60_000_000_000} min,  1 user,  "
        "load average: 0.00, 0.00, 0.00\n"
    )
    return 0


def _lspci(call: Call) -> int:
    """The NICs only; the wording is that of pci.ids for a ConnectX-4 EN."""
    for port in call.host.ports:
        call.out(
            f"03:00.{port.index} Ethernet controller: Mellanox Technologies MT27700 Family "
            "[ConnectX-4]\n"
        )
    return 0


def _nproc(call: Call) -> int:
    call.out("16\n")
    return 0


def _ofed_info(call: Call) -> int:
    """`ofed_info -s`, as the recordings of NVIDIA's releases have it."""
    call.out(f"{call.host.faults.defects.ofed}:\n")
    return 0


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
    "lldptool": _lldptool,
    "ss": _ss,
    "ofed_info": _ofed_info,
    "nproc": _nproc,
    "uptime": _uptime,
    "lspci": _lspci,
}
