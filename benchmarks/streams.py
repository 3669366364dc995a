"""How many streams one core takes: 64 devices x 64 ports x 8 queues, a sample a second, by gNMI.

    .venv/bin/python benchmarks/streams.py [--devices 64] [--ports 64] [--seconds 20] [--times 1 10]

The switches are one server in a process of its own, on the last core; the collectors have the first
one for themselves. Each port sends a notification with a tree of eight queues, as SONiC does. What
is printed is counted: what was sent, what came as samples, what the collectors say they dropped,
what the switches could not send in time (the collectors had not taken what came before), how old a
sample was when it was read, and the collectors' memory and share of their core.
"""

import argparse
import json
import multiprocessing as mp
import os
import resource
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

QUEUES = 8
PORT = "Ethernet{}"
SETTLE_S = 15.0


def main() -> None:
    asked = _arguments()
    print(
        f"{asked.devices} devices x {asked.ports} ports x {QUEUES} queues, "
        f"{asked.seconds} s, {os.cpu_count()} cores"
    )
    for times in asked.times:
        _print(times, measured(asked.devices, asked.ports, asked.seconds, times))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="streams that one core takes")
    parser.add_argument("--devices", type=int, default=64)
    parser.add_argument("--ports", type=int, default=64)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--times", type=int, nargs="*", default=[1, 10])
    return parser.parse_args()


def _print(times: int, found: dict[str, float]) -> None:
    print(f"\n{times} x: {found['asked']:.0f} samples a second asked for")
    for name, value in found.items():
        print(f"  {name:<48} {value:,.2f}" if value % 1 else f"  {name:<48} {value:,.0f}")


def measured(devices: int, ports: int, seconds: int, times: int) -> dict[str, float]:
    """Counts of one load, in a process of its own."""
    context = mp.get_context("spawn")
    ours, theirs = context.Pipe()
    load = (devices, ports, seconds)
    switches = context.Process(target=_switches, args=(theirs, *load, times))
    switches.start()
    port = ours.recv()
    answer: Any = context.Queue()
    runner = context.Process(target=_collect, args=(answer, port, *load))
    runner.start()
    sent, unsent = ours.recv()
    found: dict[str, float] = answer.get(timeout=600)
    ours.send("over")
    runner.join(60)
    switches.join(60)
    return {
        "asked": devices * ports * QUEUES * times,
        "samples sent by the switches": sent,
        "samples the switches could not send in time": unsent,
        **found,
        "lost and not told": sent - found["samples received"] - found["samples dropped, as told"],
    }


# -- the collectors, on the first core -------------------------------------------------------------


def _collect(answer: Any, port: int, devices: int, ports: int, seconds: int) -> None:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    from labtests.capabilities.streams import StreamSample, StreamTable
    from labtests.drivers.sonic.streams import LEAVES
    from labtests.inventory import TelemetryPlace
    from labtests.streams import Collectors, StreamSource

    told = {PORT.format(n): PORT.format(n) for n in range(ports)}
    table = StreamTable(
        sampled=("/COUNTERS/{port}/Queues",), leaves=LEAVES, target="COUNTERS_DB", told=told
    )
    place = TelemetryPlace(kind="gnmi", port=port, address="127.0.0.1")
    sources = [
        StreamSource(device=f"switch{n}", host="127.0.0.1", place=place, table=table)
        for n in range(devices)
    ]
    oldest_s, listened = 0.0, 0
    with Collectors(sources) as collectors:
        collectors.begin(())  # as in a phase that looks at other ports
        listener = collectors.listen(100_000)
        began, busy = time.monotonic(), time.process_time()
        ends = began + seconds + SETTLE_S
        while time.monotonic() < ends or not collectors.read_out:
            batch = listener.take(0.5)
            ends = max(ends, time.monotonic() + SETTLE_S) if batch else ends
            for record in batch:
                if isinstance(record, StreamSample):
                    listened += 1
                    oldest_s = max(oldest_s, record.arrived_s - record.device_s)
        spent = time.process_time() - busy
        received = sum(collectors.received.values())
        dropped = sum(t.count for t in collectors.seen()[2] if t.kind == "dropped")
        others = sum(t.count for t in collectors.seen()[2] if t.kind not in ("dropped", "refused"))
        lost = listener.lost
    memory_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    answer.put(
        {
            "samples received": received,
            "samples dropped, as told": dropped * QUEUES,
            "samples of a listener": listened,
            "records the listener lost, as told": lost,
            "other troubles told": others,
            "oldest when it came, s": oldest_s,
            "CPU seconds in all": spent,
            "CPU seconds a second of load": spent / seconds,
            "memory at most, MiB": memory_mib,
        }
    )


# -- the switches, on the last one -----------------------------------------------------------------


def _switches(pipe: Any, devices: int, ports: int, seconds: int, times: int) -> None:
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    import grpc

    from labtests.protocols import gnmi

    serving = _Serving(devices, ports, seconds, times)
    server = grpc.server(ThreadPoolExecutor(max_workers=devices + 2))
    handler = grpc.stream_stream_rpc_method_handler(
        serving.subscribe, request_deserializer=gnmi.pb2.SubscribeRequest.FromString
    )
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler("gnmi.gNMI", {"Subscribe": handler}),)
    )
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    pipe.send(port)
    deadline = time.monotonic() + seconds + 60
    while serving.ended < devices:
        if time.monotonic() > deadline:
            sys.exit("a stream did not end")
        time.sleep(0.2)
    pipe.send((serving.sent, devices * ports * QUEUES * seconds * times - serving.sent))
    pipe.recv()
    server.stop(0).wait()


class _Serving:
    """All devices send the same: what is measured is who reads it."""

    def __init__(self, devices: int, ports: int, seconds: int, times: int) -> None:
        from labtests.protocols import gnmi

        self._gnmi, self._seconds, self._times = gnmi, seconds, times
        self._lock = threading.Lock()
        self._ready = threading.Barrier(devices)
        self._made: dict[int, list[bytes]] = {}
        self.sent = self.ended = 0
        names = [PORT.format(n) for n in range(ports)]
        self._paths = [gnmi.path(f"/COUNTERS/{name}/Queues") for name in names]
        self._trees = [
            json.dumps({f"{name}:{q}": {"SAI_QUEUE_STAT_PACKETS": "%d"} for q in range(QUEUES)})
            for name in names
        ]

    def subscribe(self, requests: Iterator[Any], context: Any) -> Iterator[bytes]:
        next(requests)
        self._ready.wait(60)
        began, number, sent = time.monotonic(), 0, 0
        while number < self._seconds * self._times:
            time.sleep(max(0.0, began + number / self._times - time.monotonic()))
            late = int((time.monotonic() - began) * self._times)
            number = max(number, late)  # rounds that could not be sent in time are left out
            if number >= self._seconds * self._times:
                break
            for content in self._round(number):
                yield content
                sent += 1
            number += 1
        with self._lock:
            self.sent += sent * QUEUES
            self.ended += 1
        while context.is_active():
            time.sleep(0.2)

    def _round(self, number: int) -> list[bytes]:
        with self._lock:
            if number not in self._made:
                self._made = {number: [*self._messages(number)]}
            return self._made[number]

    def _messages(self, number: int) -> Iterator[bytes]:
        pb2, now_ns = self._gnmi.pb2, time.time_ns()
        for path, tree in zip(self._paths, self._trees, strict=True):
            value = pb2.TypedValue(json_ietf_val=(tree % ((number,) * QUEUES)).encode())
            told = pb2.Notification(
                timestamp=now_ns,
                prefix=pb2.Path(target="COUNTERS_DB"),
                update=[pb2.Update(path=path, val=value)],
            )
            yield pb2.SubscribeResponse(update=told).SerializeToString()


if __name__ == "__main__":
    main()
