"""Somebody logs in to the emulated switches with a plain OpenSSH client and types what the vendor's
manual of PFC, and habit, say."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from served_lab import ROOT, ServedLab

TYPED = {
    "h3c-s6550-cx4": (
        "S6550",
        {
            "display lldp neighbor-information list": r"ServerA +WGE1/0/14 +[0-9a-f-]{14} +\S",
            "display device": r" 1 +S6550XE-56HF-HI +Master",
            "display counters inbound interface": r"WGE1/0/13 +0 +0 +0 +0\n",
            "display counters rate outbound interface Twenty-FiveGigE 1/0/13": r"WGE1/0/13 +0 +0",
            "display transceiver interface WGE1/0/13": r"Twenty-FiveGigE1/0/13 transceiver info",
            "display logbuffer": r"Current messages: 0",
            "ping -c 2 192.168.10.10": r"2 packet\(s\) transmitted, 0 packet\(s\) received",
            "undo terminal monitor": r"disabled to display logs",
            "display power": r"% Unrecognized command found at '\^' position\.",
        },
    ),
    "nexus-cx5": (
        "N9K",
        {
            "show interface brief": r"Eth1/13 +1 +eth +access up +none +25G\(D\) --",
            "sh int status": r"Eth1/13 +-- +connected 1 +full +25G",
            "show interface ethernet 1/13 counters": r"Eth1/13 +0 +0\n",
            "show lldp neighbors": r"ServerC +Eth1/13 +120",
            "configure terminal\ninterface ethernet 1/13-15\npriority-flow-control mode on\nend\n"
            "show interface priority-flow-control": r"(Ethernet1/1[345] +On .*\n){3}",
            "show version | json": r'"host_name": "N9K"',
            "show interface e1/13 | json": r'"ROW_interface": {"interface": "Ethernet1/13"',
            "show queuing pfc-queue interface ethernet 1/13": r"Ethernet1/13 +Disabled",
            "configure terminal\ninterface ethernet 1/14\nshutdown\nno shutdown\nend\n"
            "show logging last 2": r"IF_DOWN_ADMIN_DOWN: Interface Ethernet1/14 is down \(Adm.*\n"
            r"2024 May 29 08:.* N9K %ETHPORT-5-IF_UP: Interface Ethernet1/14 is up",
            "show logging logfile | count": r"^2\n$",
            "clear logging logfile ; show logging logfile | count": r"^0\n$",
            "show queuing burst-detect": r"% Invalid command at '\^' marker\.",
        },
    ),
    "cumulus-cx5": (
        "SN2700",
        {
            "nv set qos pfc gold switch-priority 3; nv set interface swp1 qos pfc profile gold; "
            "nv config apply -y; nv show interface swp1 qos pfc -o json": r'"switch-priority": '
            r'{\s+"3"',
            "nv show interface": r"\+ swp1 +9216 +25G +up +ServerC +\S+ +swp",
            "nv show interface swp1 qos pfc": r"\[switch-priority\]  3 ",
            "nv show interface swp1 qos egress-scheduler": r"TC->DWRR weight configuration\n=+\n",
            "nv show interface swp1 counters qos": r"PFC Statistics\n=+\n",
            "nv set interface swp1 qos pfc-watchdog; nv set qos pfc-watchdog robustness 5; "
            "nv config apply -y; nv show interface swp1 qos pfc-watchdog": r"state +enabled +en"
            r"abled",
            "nv config show -o commands": r"nv set interface swp1 qos pfc profile gold\n",
            "nv set qos roce; nv config apply -y; nv show qos roce": r"mode +lossless +lossless\n",
            "nv show interface swp2 qos roce status": r"pfc-priority +3 +switch-prio on which",
            "nv show interface swp2 qos roce counters": r"roce-packets +n/a +Rx RoCE Packets\n",
            "nv show interface swp2 qos buffer egress-traffic-class": r"\n3 +13 +DYNAMIC",
            "nv show interface swp1 bond": r"the simulated box does not emulate this",
        },
    ),
    "onyx-cx5": (
        "SN2700",
        {
            "enable\nconfigure terminal\ndcb priority-flow-control priority 3 enable\n"
            "interface ethernet 1/1-1/2 dcb priority-flow-control mode on force\n"
            "show dcb priority-flow-control": r"Eth1/1 +Auto +Enabled\nEth1/2 +Auto +Enabled\n",
            "show interfaces ethernet 1/1 | include Flow-control": r"Flow-control +: receive off",
            "show interfaces ethernet 1/1 counters pfc prio 3": r"0 +pause packets",
            "show lldp interfaces ethernet remote | json-print": r'"b8:59:9f:[0-9a-f:]{8}"',
            "show frobs": r'% Unrecognized command "frobs"',
        },
    ),
    "sonic-cx5": (
        "SN2700",
        {
            "sonic-clear counters; show lldp neighbors": r"(.*does not emulate this.*\n){2}",
            "show int st": r"Ethernet0 .* up +up ",
            "show pfc pri": r"Interface +Lossless priorities",
            "show lld ta": r"ServerC",
            "show s": r"Error: Too many matches: services, sflow, snmpagentaddress",
            "show runn all": r'"PORT": {',
            "show mmu": r"the simulated box does not emulate this",
            "show frobs": r'Error: No such command "frobs"',
            "sudo config qos rel; show ecn": r"Profile: AZURE_LOSSLESS\n-+  -+\n",
            "sudo config int pfc pri Ethernet0 3 off; show pfc pri Ethernet0": r"Ethernet0 +4\n",
            "sudo config int pfc pri Ethernet0 3 on; show pfc pri Ethernet0": r"Ethernet0 +3,4\n",
            "show pfc asym Ethernet0": r"Ethernet0 +N/A\n",
            "sudo config save -y; sudo config save -y /tmp/mine.json; grep -c PORT_QOS_MAP "
            "/tmp/mine.json": r"(Running command: .*sonic-cfggen -d --print-data > .*\n){2}[1-9]",
            "echo y | sudo config save": r"continue\? \[y/N\]: Running command",
            "echo n | sudo config save; echo $?": r"continue\? \[y/N\]: (1\n)?Aborted!",
            "sudo counterpoll queue interval 50": r"50 is not in the valid range of 100 to 30000",
            "sudo counterpoll queue interval 500; counterpoll show": r"QUEUE_STAT +500 ",
            "sudo config ecn -profile AZURE_LOSSLESS -gmin 4000; show ecn": r"green_min_thres"
            r"hold +4000",
            "sudo config pfcwd start --action drop Ethernet0 200 -r 400; show pfcwd conf": r"Ether"
            r"net0 +drop +200 +400",
        },
    ),
}


@pytest.fixture(params=TYPED, scope="module")
def switch(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator:
    testbed = ROOT / "testbeds" / f"{request.param}.yaml"
    folder: Path = tmp_path_factory.mktemp("switch")
    lab = ServedLab(folder, testbed)
    try:
        yield (lab, *TYPED[request.param])
    finally:
        lab.end()


@pytest.fixture(autouse=True)
def _tidy() -> None:
    """The lab of the other files is not needed here."""


def test_what_an_engineer_types_is_answered_in_the_switch_s_own_words(switch) -> None:
    lab, device, typed = switch
    for command, expected in typed.items():
        done = lab.run(device, command)
        assert re.search(expected, done.stdout + done.stderr), (command, done)
