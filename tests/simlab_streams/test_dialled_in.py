"""The emulated Comware switch serves gNMI to who has logged in, while `grpc enable` is set."""

from collections.abc import Iterator

import grpc
import pytest
from streams_bench import WITHIN_S, Served, Typed, sampled, serving

from labtests.protocols import dialin, gnmi

SWITCH = "S6550"
PFC = "/BufferMonitor/PFCStatistics"
DROPS = "/BufferMonitor/PortQueDropEvent"


@pytest.fixture(scope="module")
def comware(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("comware"), "h3c-s6550-cx4.yaml", SWITCH) as served:
        yield served


@pytest.fixture
def cli(comware: Served) -> Iterator[Typed]:
    typed = Typed(comware.lab, SWITCH)
    typed.type("system-view", "grpc enable", "return")
    yield typed
    Typed(comware.lab, SWITCH).type("system-view", "undo grpc enable")


@pytest.fixture
def session(comware: Served, cli: Typed) -> Iterator[Served]:
    with comware.channel() as channel:
        login = str(comware.place.user), comware.lab.password
        comware.token = dialin.logged_in(channel, *login, within_s=WITHIN_S)
        yield comware
    comware.token = ""


def tables(call, how_many=1):
    told = [next(call) for _ in range(how_many)]
    return [gnmi.value(each.val) for message in told for each in message.update.update]


def code_of(act) -> str:
    with pytest.raises(grpc.RpcError) as refused:
        act()
    return refused.value.code().name


def test_a_table_comes_as_one_tree_each_second_and_events_when_they_happen(session: Served):
    port = "Twenty-FiveGigE1/0/13"
    changes = sampled(DROPS, mode=gnmi.ON_CHANGE)
    listed = {"encoding": gnmi.pb2.JSON_IETF}
    with session.subscribed(sampled(PFC), changes, **listed) as call:
        first, nothing, sync = next(call), next(call), next(call)
        session.lab.ask({"advance_s": 2.5})
        later = [next(call) for _ in range(2)]
    [update] = first.update.update
    assert gnmi.text(update.path) == PFC
    rows = {row["IfName"]: row for row in gnmi.value(update.val)["PFCStatistic"]}
    assert rows[port]["PfcSend"] == "[0,0,0,0,0,0,0,0]"
    assert list(nothing.update.update) == []
    assert sync.sync_response
    times = [each.update.timestamp - first.update.timestamp for each in later]
    assert times == [10**9, 2 * 10**9]
    assert {gnmi.text(u.path) for each in later for u in each.update.update} == {PFC}


def test_nobody_is_served_without_a_token_or_with_one_that_was_given_back(
    comware: Served, session: Served
):
    token, session.token = session.token, ""
    with comware.subscribed(sampled(PFC)) as call:  # user and password, as elsewhere
        assert code_of(lambda: next(call)) == "UNAUTHENTICATED"
    session.token = token
    with session.channel() as channel:
        asked = (channel, "admin", "wrong")
        assert code_of(lambda: dialin.logged_in(*asked, within_s=WITHIN_S)) == "UNAUTHENTICATED"
        dialin.log_out(channel, token, within_s=WITHIN_S)
    with session.subscribed(sampled(PFC)) as call:
        assert code_of(lambda: next(call)) == "UNAUTHENTICATED"


def test_its_streams_end_when_grpc_is_turned_off_and_nobody_logs_in(session: Served, cli: Typed):
    with session.subscribed(sampled(PFC), encoding=gnmi.pb2.JSON_IETF) as call:
        assert tables(call)
        cli.type("system-view", "undo grpc enable", "return")
        assert code_of(lambda: list(call)) == "UNAVAILABLE"
    with session.channel() as channel:
        login = str(session.place.user), session.lab.password
        asked = (channel, *login)
        assert code_of(lambda: dialin.logged_in(*asked, within_s=WITHIN_S)) == "UNAVAILABLE"


def test_a_table_that_it_does_not_have_is_refused(session: Served):
    with session.subscribed(sampled("/BufferMonitor/Nothing")) as call:
        assert code_of(lambda: next(call)) == "NOT_FOUND"
