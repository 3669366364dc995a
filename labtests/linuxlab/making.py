"""Bringing a lab up: whatever is missing is made, whatever is right is left alone."""

import ipaddress
import time
from collections.abc import Callable
from pathlib import Path

from labtests.core.errors import CommandRejected, LabError, LabErrors
from labtests.journal.runner import started_ticks
from labtests.linuxlab.clashes import expect_no_clash
from labtests.linuxlab.inspection import (
    SINGLE_SEGMENT,
    Interfaces,
    LinuxLabFinding,
    exists,
    interfaces,
    listens,
    network_findings,
    queue_problem,
    sshd_finding,
)
from labtests.linuxlab.kernel import KernelFeatures, tried
from labtests.linuxlab.keys import box_folder, make_keys
from labtests.linuxlab.layout import host_shaper, layout_now, switch_queues
from labtests.linuxlab.ledger import Ledger, ledger_of, opened
from labtests.linuxlab.moot import drop_moot
from labtests.linuxlab.plan import BRIDGE, MANAGEMENT, Box, LinuxLabPlan, Plug, network_of
from labtests.linuxlab.processes import alive, end_all, start
from labtests.linuxlab.programs import MACHINE, attempt, batch, run
from labtests.linuxlab.removing import remove
from labtests.linuxlab.strangers import LACKING, keep_out

ANSWERS_WITHIN_S = 10.0
READY_WITHIN_S, LOOK_EVERY_S = 5.0, 0.1
Say = Callable[[str], None]


def up(plan: LinuxLabPlan, say: Say) -> None:
    """The lab is as the plan says. Raises LabError, and then nothing of it is left."""
    ledger = _earlier(plan, say)
    if ledger is not None:
        wrong = findings(plan, ledger)
        if not wrong:
            say(f"{plan.name} is already up and healthy")
            return
        for finding in wrong:
            say(f"repaired: {finding}")
    else:
        expect_no_clash(plan)
        ledger = opened(plan)
        drop_moot(ledger, say)  # of a lab of this name that went with a reboot
    try:
        _make(plan, ledger)
    except BaseException:
        say(f"{plan.name} could not be brought up; removing what was made of it")
        remove(ledger)
        raise


def findings(plan: LinuxLabPlan, ledger: Ledger) -> list[LinuxLabFinding]:
    """Everything that is not as it should be."""
    wrong = list(network_findings(plan, ledger))
    damaged = {finding.device for finding in wrong}
    answers = (sshd_finding(ledger, box) for box in plan.boxes if box.name not in damaged)
    return wrong + [finding for finding in answers if finding is not None]


def _earlier(plan: LinuxLabPlan, say: Say) -> Ledger | None:
    """The notes of the same lab if it is there; anything else of its name is taken down."""
    ledger = ledger_of(plan.name)
    if ledger is None:
        return None
    if ledger.complete and ledger.digest == plan.digest and ledger.boot == opened(plan).boot:
        return ledger
    say(
        f"{plan.name}: the file differs from the lab that is up; rebuilding it"
        if ledger.complete
        else f"{plan.name}: removing what an interrupted `up` left behind"
    )
    remove(ledger)
    return None


def _make(plan: LinuxLabPlan, ledger: Ledger) -> None:
    ledger.complete = False
    ledger.write()  # before anything is made
    make_keys(plan)
    _namespaces(plan)
    kernel = tried(plan.management)
    ledger.lacking = kernel.notes()
    _cables(plan)
    _management(plan)
    if not keep_out(ledger.network):
        ledger.lacking.append(LACKING)
    for box in plan.boxes:
        _addresses(plan, box)
        _keeps_order(box)
        if not box.switch:
            _asks_for_ecn(box)
    _known_neighbours(plan)
    for box in plan.boxes:
        _queues(plan, ledger, box, kernel)
    _servers(plan, ledger)
    wrong = _findings_at_last(plan, ledger)
    if wrong:
        text = "this was configured but is not in force: something else changes this machine"
        raise LabErrors(text, [_unmade(finding) for finding in wrong])
    ledger.complete = True
    ledger.write()


def _findings_at_last(plan: LinuxLabPlan, ledger: Ledger) -> list[LinuxLabFinding]:
    """What is wrong when the kernel had its time: it sees some carriers a second later, and drops
    the first packets until then (net/core/link_watch.c)."""
    until = time.monotonic() + READY_WITHIN_S
    while (wrong := findings(plan, ledger)) and time.monotonic() < until:
        time.sleep(LOOK_EVERY_S)
    return wrong


def _unmade(finding: LinuxLabFinding) -> LabError:
    return CommandRejected(
        finding.device, "linuxlab up", finding.problem, "run `labtests linuxlab up` again"
    )


def _namespaces(plan: LinuxLabPlan) -> None:
    for name in plan.namespaces:
        if not exists(name):
            run(["ip", "netns", "add", name], device=name.rpartition(":")[2])
        run(["ip", "-n", name, "link", "set", "lo", "up"], device=name)


def _cables(plan: LinuxLabPlan) -> None:
    """Both ends of each cable are there, or the cable is made anew."""
    there: dict[str, Interfaces] = {
        name: interfaces(name, name or MACHINE) for name in ("", *plan.namespaces)
    }
    for a, b in plan.cables:
        gone = [end for end in (a, b) if end.interface not in there[end.namespace]]
        if not gone:
            continue
        for end in (a, b):
            if end not in gone:
                _delete(end)
        words = ["ip", "link", "add", *_end(a), "type", "veth", "peer", *_end(b)]
        run(words, device=b.device if a.namespace == "" else a.device)


def _end(plug: Plug) -> list[str]:
    words = ["name", plug.interface]
    words += ["address", plug.mac] if plug.mac else []
    return words + (["netns", plug.namespace] if plug.namespace else [])


def _delete(plug: Plug) -> None:
    inside = ["-n", plug.namespace] if plug.namespace else []
    run(["ip", *inside, "link", "del", "dev", plug.interface], device=plug.device)


def _management(plan: LinuxLabPlan) -> None:
    """The management bridge, and the runner's own end and address."""
    number = len(plan.boxes)
    lines = _bridge(plan.management, "management network")
    lines += _into_bridge("runner") + [
        line for n in range(number) for line in _into_bridge(f"m{n}")
    ]
    batch("ip", plan.management, lines, device="management network")
    own = plan.runner_interface
    lines = [
        *_quiet(own),
        f"addr replace {plan.lab.runner_address}/{plan.lab.prefix_length} dev {own}",
        f"link set dev {own} up",
    ]
    batch("ip", "", lines, device="the runner")


def _addresses(plan: LinuxLabPlan, box: Box) -> None:
    """Interfaces of a box: MTU, addresses, the bridge of a switch; all up."""
    management = box.device.management.host
    lines = [
        *_quiet(MANAGEMENT),
        f"addr replace {management}/{plan.lab.prefix_length} dev {MANAGEMENT}",
        f"link set dev {MANAGEMENT} up",
        *(_bridge(box.namespace, box.name) if box.switch else ()),
    ]
    for port in box.ports:
        dev = port.interface
        lines.append(f"link set dev {dev} mtu {plan.lab.mtu_bytes} gso_max_segs {SINGLE_SEGMENT}")
        if port.address is not None:
            lines.append(f"addr replace {port.address}/{port.prefix_length} dev {dev}")
        lines += _into_bridge(dev) if box.switch else [*_quiet(dev), f"link set dev {dev} up"]
    batch("ip", box.namespace, lines, device=box.name)


def _keeps_order(box: Box) -> None:
    """What a port receives goes through one CPU (Linux Documentation/networking/scaling.rst, RPS):
    else packets that two CPUs have sent overtake each other in the machine, which no cable does. A
    kernel without RPS has no such file."""
    for port in box.ports:
        file = f"/sys/class/net/{port.interface}/queues/rx-0/rps_cpus"
        words = ["sh", "-c", '[ ! -e "$1" ] || echo 1 > "$1"', "sh", file]
        run(["ip", "netns", "exec", box.namespace, *words], device=box.name)


def _asks_for_ecn(box: Box) -> None:
    """A new namespace has 2, which only accepts it: the suite of TCP with ECN would be skipped in
    every lab."""
    words = ["sh", "-c", "echo 1 > /proc/sys/net/ipv4/tcp_ecn"]
    run(["ip", "netns", "exec", box.namespace, *words], device=box.name)


def _bridge(namespace: str, device: str) -> list[str]:
    """Without spanning tree and multicast queries: nothing is sent that nobody asked for."""
    made = [] if BRIDGE in interfaces(namespace, device) else [f"link add {BRIDGE} type bridge"]
    options = f"link set dev {BRIDGE} type bridge stp_state 0"
    if Path("/sys/module/bridge").exists() and Path("/proc/net/igmp").exists():
        options += " mcast_snooping 0"
    return [*made, options, *_quiet(BRIDGE), f"link set dev {BRIDGE} up"]


def _into_bridge(interface: str) -> list[str]:
    return [
        *_quiet(interface),
        f"link set dev {interface} master {BRIDGE}",
        f"link set dev {interface} up",
    ]


def _quiet(interface: str) -> list[str]:
    """No IPv6 address of its own accord, so no neighbour and router solicitations in the queues."""
    if not Path("/proc/sys/net/ipv6").exists():
        return []
    return [f"link set dev {interface} addrgenmode none"]


def _known_neighbours(plan: LinuxLabPlan) -> None:
    """Hosts know each other's addresses and switches where their hosts are: no ARP and no flooding
    in the queues that are counted."""
    ports = [(box, port) for box in plan.boxes if not box.switch for port in box.ports]
    for box, port in ports:
        lines = [
            f"neigh replace {other.address} lladdr {other.mac} dev {port.interface} nud permanent"
            for _, other in ports
            if port.address
            and other.address
            and other != port
            and ipaddress.ip_address(other.address) in network_of(port.address, port.prefix_length)
        ]
        batch("ip", box.namespace, lines, device=box.name)
    mac = {(box.namespace, port.interface): port.mac for box, port in ports}
    switches = {box.namespace: box for box in plan.boxes if box.switch}
    for a, b in plan.cables:
        for host, switch in ((a, b), (b, a)):
            known = mac.get((host.namespace, host.interface))
            if known is not None and switch.namespace in switches:
                line = f"fdb replace {known} dev {switch.interface} master static"
                batch("bridge", switch.namespace, [line], device=switch.device)


def _queues(plan: LinuxLabPlan, ledger: Ledger, box: Box, kernel: KernelFeatures) -> None:
    """Ports whose queues are not as they were made get them anew."""
    for port in box.ports:
        if not queue_problem(ledger, box, port):
            continue
        attempt(["tc", "-n", box.namespace, "qdisc", "del", "dev", port.interface, "root"])
        if box.switch:
            lines = switch_queues(port, plan.lab, red="red" in kernel.has)
        else:
            lines = host_shaper(port, plan.lab)
        batch("tc", box.namespace, lines, device=box.name)
        end = f"{box.name}:{port.interface}"
        ledger.queues[end] = layout_now(box.namespace, port.interface, box.name)
    ledger.write()


# -- sshd --------------------------------------------------------------------------------------


def _servers(plan: LinuxLabPlan, ledger: Ledger) -> None:
    """Each box has a running sshd that accepts connections."""
    started = []
    for box in plan.boxes:
        runner = ledger.runners.get(box.name)
        if alive(runner) and sshd_finding(ledger, box) is None:
            continue
        end_all([], {box_folder(plan, box): runner} if runner else {})
        ledger.runners[box.name] = start(plan, box)
        ledger.write()
        started.append(box)
    deadline = time.monotonic() + ANSWERS_WITHIN_S
    for box in started:
        _wait_for(plan, ledger, box, deadline)


def _wait_for(plan: LinuxLabPlan, ledger: Ledger, box: Box, deadline: float) -> None:
    while not listens(box, within_s=1.0):
        gone = started_ticks(ledger.runners[box.name][0]) is None
        if gone or time.monotonic() > deadline:
            log = (box_folder(plan, box) / "sshd.log").read_text(errors="replace").strip()
            raise CommandRejected(
                box.name,
                f"sshd on {box.spoken}",
                f"{'ended' if gone else 'does not answer'}: {log or 'it said nothing'}",
                "the namespaces of mount, PID and UTS must be permitted here (not in every "
                "container), and openssh-server must work",
            )
        time.sleep(0.02)
