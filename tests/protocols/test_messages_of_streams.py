from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest

from labtests.protocols import dialout, gnmi


@pytest.mark.parametrize(
    "text",
    [
        "/",
        "/interfaces/interface[name=Ethernet1/0/1]/state",
        "openconfig:/qos/queue[interface-id=Ethernet0][name=3]",
        r"/a[k=x\]y\\z]",
        "/openconfig-interfaces:interfaces",
    ],
)
def test_a_path_is_written_as_it_was_read(text):
    assert gnmi.text(gnmi.path(text)) == text


@pytest.mark.parametrize("text", ["interfaces", "/a[name]", "/[k=v]"])
def test_what_is_no_path_is_refused(text):
    with pytest.raises(ValueError, match="no gNMI path"):
        gnmi.path(text)


@pytest.mark.parametrize("leaf", [0, 2**63, -1, 1.5, "up", True])
def test_a_leaf_goes_through_every_encoding(leaf):
    for encoding in gnmi.ENCODINGS.values():
        got = gnmi.value(gnmi.typed(leaf, encoding))
        whole = isinstance(leaf, int) and not isinstance(leaf, bool)
        assert got == (str(leaf) if encoding == gnmi.pb2.JSON_IETF and whole else leaf)


def test_a_tree_has_no_proto_value():
    with pytest.raises(ValueError, match="leaf"):
        gnmi.typed({"a": 1}, gnmi.pb2.PROTO)


def test_the_bytes_of_dial_out_are_those_of_its_proto():
    """By hand: field 1 is a message with three texts, then 2 and 3."""
    sent = dialout.message(("H3C", "S", "M"), "p", "{}").SerializeToString()
    assert sent == b"\x0a\x0b\x0a\x03H3C\x12\x01S\x1a\x01M\x12\x01p\x1a\x02{}"


def test_a_half_message_is_none():
    sent = dialout.message(("H3C", "S", "M"), "p", "{}").SerializeToString()
    with pytest.raises(Exception, match="Error parsing"):
        dialout.DialoutMsg.FromString(sent[:-1])


def test_both_spellings_of_the_service_are_answered():
    heard = []

    def receive(messages, context):
        heard.append([each.jsonData for each in messages])
        return dialout.DialoutResponse(response="")

    server = grpc.server(ThreadPoolExecutor(2))
    server.add_generic_rpc_handlers(dialout.handlers(receive))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        for service in dialout.SERVICES:
            message = dialout.message(("H3C", "S", "M"), "p", service)
            dialout.dial(channel, service)(iter([message]), timeout=10)
    server.stop(None).wait()
    assert heard == [["GRPCDialout"], ["gRPCDialout"]]
