"""Silent frames (wire.py) change no figure: two networks in step, one of them without silence."""

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from network_pairs import eventful, expect_in_step
from network_random import MEMORY, NETWORK, NS_PER_US, Case, network_of, set_red, started
from network_star import Lab

from labtests.network import Network, RcRequest, ReceiveBuffer, Script, SwitchMemory
from labtests.network.wire import MOST_SILENT

STEP = st.tuples(
    st.sampled_from(
        ["go", "go", "go", "cut", "restore", "script", "slow", "fast", "stop", "start"]
    ),
    st.integers(0, 5),
    st.one_of(st.integers(1, 3_000), st.integers(1, 150_000)),  # ns until the next step
)
VARIED = st.fixed_dictionaries(
    {
        "lossless": st.sets(st.integers(0, 5)),
        "red": st.sampled_from([None, False, True]),
        "go_back": st.sampled_from(["packet", "message"]),
        "ack_every_packets": st.sampled_from([None, 3]),
        "steps": st.lists(STEP, min_size=6, max_size=24),
    }
)


def more(network: Network, case: Case, varied: Case, number: int) -> Any:
    """One more flow of many queue pairs."""
    hosts = len(case["hosts"])
    return network.start_rc(
        RcRequest(
            device=f"h{number % hosts}",
            interface="e0",
            destination=f"10.0.0.{(number + 1) % hosts}",
            tos=(number % 6) << 5,
            qps=9,
            message_bytes=(300, 5000, 65536)[number % 3],
            nak_repeat_us=30,
            timeout_exponent=4,
            retry_limit=100,
            go_back=varied["go_back"],
            ack_every_packets=(
                None if varied["go_back"] == "message" else varied["ack_every_packets"]
            ),
        )
    )


def take_step(network: Network, case: Case, varied: Case, flows: list[Any], step: Any) -> None:
    what, number, _ = step
    host = f"h{number % len(case['hosts'])}"
    switch, port = f"s{case['hosts'][int(host[1:])][0] % (len(case['trunks']) + 1)}", host
    if what == "cut":
        network.cut(host, "e0")
    elif what == "restore":
        network.restore(host, "e0")
    elif what == "script":
        damage = "lost" if number % 2 else "corrupted"
        network.impair(switch, port, Script(damage=damage, first=2, every=7, frames="data"))
    elif what == "slow":
        nic = network.nic(host, "e0")
        nic.set_receive_buffer(ReceiveBuffer(bits_per_s=2 * 10**9, buffer_bytes=20_000))
    elif what == "fast":
        network.nic(host, "e0").set_host_rate(None)
    elif what == "stop":
        flows[number % len(flows)].stop()
    elif what == "start":
        flows.append(more(network, case, varied, number))


@settings(
    max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
@given(NETWORK, MEMORY, VARIED)
def test_silence_changes_nothing_at_any_moment(
    case: Case, memory: SwitchMemory, varied: Case
) -> None:
    pair = [network_of(case, memory, varied["lossless"]) for _ in range(2)]
    eventful(pair[1])
    flows = []
    for network in pair:
        if varied["red"] is not None:
            set_red(network, ecn=varied["red"])
        flows.append([*started(network, case), more(network, case, varied, 0)])
    for step in varied["steps"]:
        for network, own in zip(pair, flows, strict=True):
            take_step(network, case, varied, own, step)
            network.advance_to(network.now_ns + step[2])
        expect_in_step(*pair)
    for network, own in zip(pair, flows, strict=True):
        for flow in own:
            flow.stop()
        network.advance_to(network.now_ns + 100_000 * NS_PER_US)
    expect_in_step(*pair)


def test_most_frames_of_a_message_are_silent(star: Lab) -> None:
    """So the comparison above is worth something."""
    lab = star().lossless(3)
    lab.rc(1, 3, tx_depth=512)
    most = 0
    for _ in range(50):
        lab.run_ms(0.01)
        most = max(most, int(lab.network.tables.port[1].silent_run))
    assert 50 <= most <= MOST_SILENT
