"""gNMI as foreign clients speak it: a raw one of the public proto, and pygnmi's own."""

from pathlib import Path

import grpc
import pytest
from pygnmi.client import gNMIclient
from pygnmi.spec.v080.gnmi_pb2_grpc import gNMIStub
from streams_bench import WITHIN_S, Served, sampled

from labtests.protocols import gnmi

QUEUES = "/COUNTERS/Ethernet0/Queues"
DB = "COUNTERS_DB"
DEPTH = (
    "/System/ipqos-items/queuing-items/policy-items/out-items/intf-items"
    "/If-list[name=eth1/13]/queCmap-items/QueuingStats-list[cmapName=c-out-8q-q3]"
)
QUEUE = "/qos/interfaces/interface[interface-id=*]/output/queues/queue[name=3]/state"


def values(response):
    return {
        gnmi.text(each.path).rpartition("/")[2]: gnmi.value(each.val)
        for each in response.update.update
    }


def first_round(call):
    """All updates up to sync_response."""
    return list(iter(lambda: next(call), gnmi.pb2.SubscribeResponse(sync_response=True)))


def test_samples_come_at_their_instants_of_the_labs_clock(sonic: Served):
    with sonic.subscribed(sampled(QUEUES), target=DB) as call:
        (first,) = first_round(call)
        before = sonic.lab.ask({"now": True}).get("streamed", {}).get("SN2700", 0)
        answer = sonic.lab.ask({"advance_s": 3.5})
        times = [next(call).update.timestamp - first.update.timestamp for _ in range(3)]
    assert times == [10**9, 2 * 10**9, 3 * 10**9]
    assert answer["streamed"]["SN2700"] - before == 3
    assert values(first)["SAI_QUEUE_STAT_PACKETS"] == "0"  # text, as in redis


def test_once_and_poll(nexus: Served):
    with nexus.subscribed(sampled(DEPTH), mode=gnmi.ONCE) as call:
        (told,) = first_round(call)
        assert list(call) == []
    assert values(told)["maxQueueDepth"] == 0
    polls = [gnmi.pb2.SubscribeRequest(poll=gnmi.pb2.Poll())] * 2
    listed = gnmi.pb2.SubscriptionList(
        mode=gnmi.POLL, encoding=gnmi.pb2.JSON, subscription=[sampled(DEPTH)]
    )
    requests = [gnmi.pb2.SubscribeRequest(subscribe=listed), *polls]
    with nexus.channel() as channel:
        call = gNMIStub(channel).Subscribe(iter(requests), metadata=nexus.login, timeout=WITHIN_S)
        answers = list(call)
    assert [each.sync_response for each in answers] == [False, True] * 3
    assert gnmi.value(answers[0].update.update[0].val)["currQueueDepth"] == 0


def test_on_change_tells_of_a_link_that_goes_down_and_of_nothing_else(cumulus: Served):
    state = "/interfaces/interface[name=*]/state/oper-status"
    with cumulus.subscribed(sampled(state, mode=gnmi.ON_CHANGE)) as call:
        first_round(call)
        cumulus.lab.ask({"advance_s": 2})
        port = cumulus.lab.lab.devices["SN2700"].chassis.ports[0]
        fault = {"kind": "carrier-flap", "device": "SN2700", "port": port, "milliseconds": 1}
        cumulus.lab.ask({"fault": fault})
        cumulus.lab.ask({"advance_s": 2})
        down, up = next(call), next(call)
    assert (values(down), values(up)) == ({"oper-status": "DOWN"}, {"oper-status": "UP"})
    assert f"[name={port}]" in gnmi.text(down.update.update[0].path)


def test_proto_has_leaves_and_json_a_tree_where_the_box_has_one(nexus: Served):
    trees = {}
    for encoding in (gnmi.pb2.PROTO, gnmi.pb2.JSON, gnmi.pb2.JSON_IETF):
        with nexus.subscribed(sampled(DEPTH), mode=gnmi.ONCE, encoding=encoding) as call:
            trees[encoding] = first_round(call)[0].update.update
    assert len(trees[gnmi.pb2.PROTO]) == 11
    assert {each.val.WhichOneof("value") for each in trees[gnmi.pb2.PROTO]} == {"uint_val"}
    assert gnmi.value(trees[gnmi.pb2.JSON][0].val)["txBytes"] == 0
    assert gnmi.value(trees[gnmi.pb2.JSON_IETF][0].val)["txBytes"] == "0"  # RFC 7951


def test_a_path_of_the_map_leads_to_the_watermarks(sonic: Served):
    with sonic.channel() as channel:
        stub = gNMIStub(channel)
        named = stub.Get(
            gnmi.pb2.GetRequest(
                prefix=gnmi.pb2.Path(target=DB),
                path=[gnmi.path("/COUNTERS_PG_NAME_MAP")],
                encoding=gnmi.pb2.JSON_IETF,
            ),
            metadata=sonic.login,
        )
        oid = gnmi.value(named.notification[0].update[0].val)["Ethernet0:3"]
        sonic.lab.ask({"advance_s": 61})  # watermarks are polled every 60 s
        held = stub.Get(
            gnmi.pb2.GetRequest(
                prefix=gnmi.pb2.Path(target=DB),
                path=[gnmi.path(f"/USER_WATERMARKS/{oid}")],
                encoding=gnmi.pb2.JSON_IETF,
            ),
            metadata=sonic.login,
        )
    assert gnmi.value(held.notification[0].update[0].val) == {
        "SAI_INGRESS_PRIORITY_GROUP_STAT_XOFF_ROOM_WATERMARK_BYTES": "0",
        "SAI_INGRESS_PRIORITY_GROUP_STAT_SHARED_WATERMARK_BYTES": "0",
    }


@pytest.mark.parametrize(
    ("path", "interval_ns", "status"),
    [
        ("/COUNTERS/Ethernet0", 10**8, grpc.StatusCode.INVALID_ARGUMENT),
        ("/COUNTERS/Ethernet1000", 10**9, grpc.StatusCode.NOT_FOUND),
    ],
)
def test_what_the_box_cannot_is_refused(sonic: Served, path, interval_ns, status):
    asked = sampled(path, sample_interval=interval_ns)
    with sonic.subscribed(asked, target=DB) as call, pytest.raises(grpc.RpcError) as refused:
        next(call)
    assert refused.value.code() == status


def test_a_shorter_interval_is_a_second_elsewhere(cumulus: Served):
    with cumulus.subscribed(sampled(QUEUE, sample_interval=10**6)) as call:
        (first,) = first_round(call)
        cumulus.lab.ask({"advance_s": 1.5})
        assert next(call).update.timestamp - first.update.timestamp == 10**9


@pytest.mark.parametrize("login", [(), (("username", "admin"), ("password", "guessed"))])
def test_nobody_comes_in_without_the_password(sonic: Served, login):
    with sonic.channel() as channel, pytest.raises(grpc.RpcError) as refused:
        gNMIStub(channel).Capabilities(gnmi.pb2.CapabilityRequest(), metadata=login)
    assert refused.value.code() == grpc.StatusCode.UNAUTHENTICATED


def test_nobody_comes_in_without_a_certificate_of_the_lab(sonic: Served):
    credentials = grpc.ssl_channel_credentials(Path(sonic.place.tls.ca).read_bytes())
    address = f"127.0.0.1:{sonic.place.port}"
    with grpc.secure_channel(address, credentials) as channel, pytest.raises(grpc.RpcError) as no:
        gNMIStub(channel).Capabilities(
            gnmi.pb2.CapabilityRequest(), metadata=sonic.login, timeout=WITHIN_S
        )
    assert no.value.code() == grpc.StatusCode.UNAVAILABLE


@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")  # pygnmi's
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")  # its close
def test_pygnmi_gets_and_subscribes(cumulus: Served):
    tls = cumulus.place.tls
    with gNMIclient(
        target=("127.0.0.1", cumulus.place.port),
        username=cumulus.place.user,
        password=cumulus.lab.password,
        path_root=tls.ca,
        path_cert=tls.certificate,
        path_key=tls.key,
    ) as client:
        assert client.capabilities()["gnmi_version"] == "0.8.0"
        got = client.get(path=["/qos/interfaces"], encoding="json_ietf")
        subscribed = client.subscribe2(
            subscribe={
                "subscription": [
                    {"path": QUEUE, "mode": "sample", "sample_interval": 10**9},
                ],
                "mode": "stream",
                "encoding": "proto",
            }
        )
        first = next(subscribed)
        cumulus.lab.ask({"advance_s": 1.5})
        second = next(subscribed)
        subscribed.close()
    assert len(got["notification"][0]["update"]) > 8 * 7 * 2
    assert second["update"]["timestamp"] - first["update"]["timestamp"] == 10**9
