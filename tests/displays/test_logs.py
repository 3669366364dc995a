"""What several platforms read of a log: a port has the name that the testbed file gives it."""

import pytest

from labtests.capabilities.device import PfcWarnings, WatchdogMessages
from labtests.drivers import comware, nxos
from labtests.transport.asking import Running, answered
from labtests.transport.protocol import Reply

COMWARE = """\
Log buffer: Enabled
Overwritten messages: 0
Current messages: 1
%Jun 17 15:57:09:578 2006 S6550 PFC/4/PFC_WARNING: On interface Twenty-FiveGigE1/0/14, the rate of \
input PFC packets of 802.1p priority 3 exceeds the PFC early-warning threshold 50 pps.
"""
NEXUS = """\
2021 Aug 18 10:18:51 N9K %$ VDC-1 %$ %TAHUSD-SLOT1-2-TAHUSD_SYSLOG_PFCWD_QUEUE_SHUTDOWN: \
Queue 1 of Ethernet1/5 is shutdown due to PFC watchdog timer expiring
7
18:57:38.347 UTC Wed Aug 18 2021
"""


@pytest.mark.parametrize(
    ("platform", "ability", "text", "ports", "named"),
    [
        (comware, PfcWarnings, COMWARE, ("WGE1/0/13", "WGE1/0/14"), "WGE1/0/14"),
        (comware, PfcWarnings, COMWARE, ("WGE1/0/13",), "Twenty-FiveGigE1/0/14"),
        (nxos, WatchdogMessages, NEXUS, ("Eth1/5",), "Eth1/5"),
        (nxos, WatchdogMessages, NEXUS, ("Eth1/6",), "Ethernet1/5"),
    ],
    ids=["comware", "comware, another", "nxos", "nxos, another"],
)  # fmt: skip
def test_a_message_is_of_the_port_as_the_testbed_file_writes_it(
    platform, ability, text, ports, named
):
    part = platform.driver_of("switch", ports).able(ability)
    asking = part.pfc_warnings() if ability is PfcWarnings else part.watchdog_log()
    log = answered(
        Running(asking),
        lambda asked: [Reply(device="switch", command=str(each), text=text) for each in asked],
    )
    (message,) = log.messages
    assert message.port == named
