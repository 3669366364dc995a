"""A flow of so many bytes delivers so many: the last message, and its last packet, are short."""

from typing import Any

import pytest
from network_star import star_wiring

from labtests.network import Network, RcRequest

HEADER = 62


SENDER = {"device": "host1", "interface": "e0", "destination": "10.0.0.0", "tos": 3 << 5}


def sent(size_bytes: int, **more: Any) -> tuple[int, int, Any]:
    """(delivered bytes, bytes of data frames at the receiver, the flow) once it is done."""
    network = Network(star_wiring(2, 25 * 10**9, 5), seed=1)
    flow = network.start_rc(RcRequest(**SENDER, size_bytes=size_bytes, **more))
    network.advance_to(100_000_000)
    assert flow.done
    assert flow.error_status is None
    return flow.delivered_bytes, network.port_counters("host0", "e0").rx_bytes, flow


@pytest.mark.parametrize("verb", ["send", "read"])
@pytest.mark.parametrize("go_back", ["packet", "message"])
@pytest.mark.parametrize("size", [1, 1000, 1024, 1025, 65536, 65537, 3 * 65536 - 1, 1_000_001])
def test_every_byte_is_delivered_and_no_more(size: int, verb: Any, go_back: Any) -> None:
    delivered, _, flow = sent(size, verb=verb, go_back=go_back)
    assert delivered == size
    assert flow.messages_completed == -(-size // 65536)


@pytest.mark.parametrize("size", [1000, 65536 + 100, 1_000_001])
def test_frames_are_as_short_as_what_they_carry(size: int) -> None:
    _, frames_bytes, _ = sent(size)
    assert frames_bytes == size + HEADER * -(-size // 1024)


@pytest.mark.parametrize(("size", "qps", "used"), [(1000, 4, 1), (65537, 4, 2), (10**6, 3, 3)])
def test_messages_are_dealt_to_queue_pairs_in_turn(size: int, qps: int, used: int) -> None:
    shares = RcRequest(**SENDER, size_bytes=size, qps=qps).shares_bytes()
    assert len(shares) == used
    assert sum(share or 0 for share in shares) == size
    assert sent(size, qps=qps)[0] == size


def test_a_lost_tail_is_sent_again_to_the_byte() -> None:
    network = Network(star_wiring(2, 25 * 10**9, 5), seed=1)
    network.damage_randomly("host0", "e0", 100_000, corrupting=False)
    flow = network.start_rc(
        RcRequest(**SENDER, size_bytes=200_001, timeout_exponent=4, nak_repeat_us=20)
    )
    network.advance_to(1_000_000_000)
    assert flow.done
    assert flow.retransmitted_packets > 0
    assert flow.delivered_bytes == 200_001


def test_a_size_and_a_number_of_messages_are_one_too_many() -> None:
    with pytest.raises(ValueError, match="one of them"):
        RcRequest(**SENDER, size_bytes=1, messages=1)
