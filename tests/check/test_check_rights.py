"""A login that can more than labtests needs is told, and hinders nothing."""

from types import SimpleNamespace

import pytest

from labtests.check.finding import Unknown, judged
from labtests.check.rights import notes, rights
from labtests.core.errors import CommandRejected
from labtests.transport.exchanges import Exchanges
from labtests.transport.protocol import Reply

LISTED = """Matching Defaults entries for ops on h1:
    env_reset, !requiretty

User ops may run the following commands on h1:
    {}
"""
ONE_BY_ONE = LISTED.format("(root) NOPASSWD: /usr/bin/id -u, /usr/sbin/ip ^link set dev [a-z]+$")


def reader(become, text="", platform="linux", error=None):
    def run(command, *, timeout_s=0):
        if error is not None:
            raise error
        return Reply(device="h1", command=command, text=text, status=0)

    management = SimpleNamespace(become=become)
    device = SimpleNamespace(platform=platform, management=management)
    return SimpleNamespace(device=device, ask=Exchanges(SimpleNamespace(device="h1", run=run)).ask)


def found_by(reader):
    return reader.ask(rights(reader.device))


@pytest.mark.parametrize(
    ("become", "text", "found"),
    [
        (True, "", "all"),
        (False, "0\n", "root"),
        (False, "1000\n", "some"),
        ("commands", ONE_BY_ONE, "some"),
        ("commands", LISTED.format("(ALL : ALL) NOPASSWD: ALL"), "all"),
        ("commands", LISTED.format("(root) NOPASSWD: /usr/bin/id -u, ALL"), "all"),
        ("commands", LISTED.format("(ALL) ALL"), "all"),
        ("commands", "", "some"),
    ],
)
def test_what_a_login_may_do_is_known_by_how_it_gets_there(become, text, found):
    assert found_by(reader(become, text)) == found


def test_a_switch_s_cli_has_no_such_rights_and_a_host_that_refuses_is_not_known():
    assert found_by(reader(False, platform="comware")) is None
    refused = CommandRejected("h1", "id -u", "no", "ask")
    assert isinstance(found_by(reader(False, error=refused)), Unknown)


def test_more_than_is_needed_is_a_note_that_also_strictness_leaves_alone():
    told = judged(notes({"a": "root", "b": "all", "c": "some", "d": None}), strict=True)
    assert [(each.device, each.level, each.check) for each in told] == [
        ("a", "note", "rights"),
        ("b", "note", "rights"),
    ]
    assert all("docs/security.md" in each.remedy for each in told)
