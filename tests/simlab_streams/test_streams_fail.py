"""What the fault `stream` does, and that it is healed."""

import grpc
import pytest
from streams_bench import Served, sampled

from labtests.protocols import gnmi

STATE = "/qos/interfaces/interface[interface-id=swp1]/output/queues/queue[name=3]/state"
SWITCH = "SN2700"


@pytest.fixture
def failing(cumulus: Served):
    def fail(how, **more):
        cumulus.lab.ask({"fault": {"kind": "stream", "device": SWITCH, "how": how, **more}})

    yield fail
    fail("heal")


def advance(served: Served, seconds: float) -> None:
    served.lab.ask({"advance_s": seconds})


def times(call, count: int) -> list[int]:
    return [next(call).update.timestamp // 10**9 for _ in range(count)]


def begun(call) -> int:
    (first,) = iter(lambda: next(call), gnmi.pb2.SubscribeResponse(sync_response=True))
    return first.update.timestamp // 10**9


def refused(served: Served) -> grpc.StatusCode:
    with served.subscribed(sampled(STATE)) as call, pytest.raises(grpc.RpcError) as why:
        next(call)
    return why.value.code()


def test_each_message_comes_twice(cumulus, failing):
    with cumulus.subscribed(sampled(STATE)) as call:
        at = begun(call)
        failing("twice")
        advance(cumulus, 2.5)
        assert times(call, 4) == [at + 1, at + 1, at + 2, at + 2]


def test_late_messages_have_the_time_of_their_sample(cumulus, failing):
    with cumulus.subscribed(sampled(STATE)) as call:
        at = begun(call)
        failing("late", seconds=3)
        advance(cumulus, 2.5)  # two are made, none has left
        failing("heal")
        advance(cumulus, 3)
        assert times(call, 5) == [at + 3, at + 1, at + 4, at + 2, at + 5]


def test_half_a_message_is_none_and_ends_the_stream(cumulus, failing):
    with cumulus.subscribed(sampled(STATE)) as call:
        begun(call)
        failing("half")
        advance(cumulus, 1.5)
        with pytest.raises(grpc.RpcError) as broken:
            next(call)
    assert broken.value.code() == grpc.StatusCode.INTERNAL


def test_a_flood_is_the_last_message_again_and_again(cumulus, failing):
    with cumulus.subscribed(sampled(STATE)) as call:
        at = begun(call)
        advance(cumulus, 1.5)
        failing("flood", seconds=500)
        assert times(call, 501) == [at + 1] * 501


def test_frozen_values_and_a_clock_that_is_off(cumulus, failing):
    whole = "/interfaces/interface[name=*]/state/oper-status"
    port = cumulus.lab.lab.devices[SWITCH].chassis.ports[0]
    with cumulus.subscribed(sampled(whole)) as call:
        at = begun(call)
        failing("frozen")
        advance(cumulus, 1.1)
        flap = {"kind": "carrier-flap", "device": SWITCH, "port": port, "milliseconds": 2000}
        cumulus.lab.ask({"fault": flap})
        advance(cumulus, 1)
        cumulus.lab.ask({"fault": {"kind": "clock", "device": SWITCH, "seconds": 60}})
        advance(cumulus, 2)
        told = [next(call).update for _ in range(4)]
    cumulus.lab.ask({"fault": {"kind": "clock", "device": SWITCH, "seconds": 0}})
    assert [each.timestamp // 10**9 - at for each in told] == [1, 2, 63, 64]
    assert {gnmi.value(each.val) for update in told for each in update.update} == {"UP"}


def test_the_server_is_gone_and_comes_back(cumulus, failing):
    with cumulus.subscribed(sampled(STATE)) as call:
        begun(call)
        failing("gone", seconds=5)
        with pytest.raises(grpc.RpcError) as gone:
            next(call)
    assert gone.value.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED)
    with cumulus.subscribed(sampled(STATE)) as call, pytest.raises(grpc.RpcError) as away:
        next(call)
    assert away.value.code() == grpc.StatusCode.UNAVAILABLE
    advance(cumulus, 6)
    with cumulus.channel() as channel:
        grpc.channel_ready_future(channel).result(timeout=30)
    with cumulus.subscribed(sampled(STATE)) as call:
        assert begun(call) > 0


def test_a_strangers_certificate_is_not_taken(cumulus, failing):
    failing("certificate")
    code = refused(cumulus)
    if code == grpc.StatusCode.CANCELLED:  # by the server before, which was about to go
        code = refused(cumulus)
    assert code == grpc.StatusCode.UNAVAILABLE
    failing("heal")
    with cumulus.channel() as channel:
        grpc.channel_ready_future(channel).result(timeout=30)


def test_a_how_that_nobody_knows_is_refused(failing):
    with pytest.raises(Exception, match="which is none of gone, certificate"):
        failing("sideways")
