"""What a side of a test says: rows as they come, or one JSON document at the end."""

from typing import Any

from labtests.simlab.linux.iperf3 import document, rows
from labtests.simlab.linux.iperf3.plan import MSS_BYTES, VERSION, Iperf3Plan
from labtests.simlab.linux.iperf3.rows import IntervalRow
from labtests.simlab.linux.iperf3.trial import (
    CONGESTION_WINDOW_BYTES,
    Iperf3Stream,
    Trial,
    together,
)

Object = dict[str, Any]
_Result = tuple[int, IntervalRow, IntervalRow]  # a stream's number, what was sent and received
TCP_BUFFERS = (16384, 131072)
UDP_BUFFERS = (212992, 212992)
RTT_US = 87  # of an idle 10G path; not simulated per stream


class Text:
    """Rows as iperf3 prints them."""

    def begin(self, trial: Trial, side: str, server_port: int, timestamp: Object) -> str:
        """One line per stream, and the heading."""
        lines = ""
        for stream in trial.streams:
            own, other = trial.ends(side, server_port, stream)
            lines += (
                f"[{stream.name(side):>3}] local {own[0]} port {own[1]} "
                f"connected to {other[0]} port {other[1]}\n"
            )
        return lines + rows.heading(udp=trial.plan.udp, sender=trial.sends(side))

    def interval(self, trial: Trial, side: str, spans: list[IntervalRow]) -> str:
        """A row per stream; with several their sum and a separator."""
        sender = trial.sends(side)
        row = rows.udp_row if trial.plan.udp else rows.tcp_row
        text = "".join(
            row(stream.name(side), span, sender=sender)
            for stream, span in zip(trial.streams, spans, strict=True)
        )
        if len(spans) > 1:
            text += row("SUM", together(spans), sender=sender) + rows.SEPARATOR
        return text

    def finish(
        self, trial: Trial, side: str, sent: list[IntervalRow], received: list[IntervalRow]
    ) -> str:
        """The client knows both ends of each stream, the server its own."""
        udp = trial.plan.udp
        roles: tuple[str, ...] = ("sender", "receiver")
        if side == "server":
            roles = ("sender",) if trial.sends(side) else ("receiver",)
        text = "" if len(sent) > 1 else rows.SEPARATOR
        text += rows.heading(udp=udp, sender=udp or "sender" in roles, summary=True)
        row = rows.udp_summary if udp else rows.tcp_summary
        names = [stream.name(side) for stream in trial.streams]
        lists = {"sender": sent, "receiver": received}
        if len(names) > 1:
            names.append("SUM")
            lists = {role: [*spans, together(spans)] for role, spans in lists.items()}
        for at, name in enumerate(names):
            for role in roles:
                text += row(name, lists[role][at], role)
        return text


class Json:
    """One side's JSON document, filled as the test goes on."""

    def __init__(self, system_info: str) -> None:
        start: Object = {"connected": [], "version": VERSION, "system_info": system_info}
        self.start = start
        self.intervals: list[Object] = []
        self.end: Object = {}
        self.error: str | None = None

    def text(self) -> str:
        """What is printed at the end."""
        whole: Object = {"start": self.start, "intervals": self.intervals, "end": self.end}
        if self.error is not None:
            whole["error"] = self.error
        return document.dump(whole) + "\n"

    def begin(self, trial: Trial, side: str, server_port: int, timestamp: Object) -> str:
        """Who is connected to whom, and what was asked for."""
        plan = trial.plan
        self.start["connected"] = [_ends(trial, side, server_port, each) for each in trial.streams]
        rate, sizes = {"target_bitrate": plan.rate_bits_per_s}, _buffers(plan)
        if side == "client":
            self.start["timestamp"] = timestamp
            self.start["connecting_to"] = {"host": plan.server, "port": plan.port}
        else:
            self.start |= sizes | {"timestamp": timestamp}
            host = {"host": trial.client_address, "port": trial.control_port}
            self.start["accepted_connection"] = host
        self.start["cookie"] = trial.cookie
        if not plan.udp:
            self.start["tcp_mss_default"] = MSS_BYTES if side == "client" else 0
        self.start |= rate | (sizes if side == "client" else {})
        self.start["test_start"] = {
            "protocol": "UDP" if plan.udp else "TCP",
            "num_streams": plan.streams,
            "blksize": plan.block_bytes,
            "omit": 0,
            "duration": plan.duration_s,
            "bytes": 0,
            "blocks": 0,
            "reverse": int(plan.reverse),
            "tos": plan.tos,
            **rate,
        }
        return ""

    def interval(self, trial: Trial, side: str, spans: list[IntervalRow]) -> str:
        """One interval of all streams."""
        sender = trial.sends(side)
        last = {"omitted": False, "sender": sender}
        streams = [
            {"socket": int(stream.name(side)), **_amounts(span)}
            | _stream_extra(trial, span, sender=sender)
            | last
            for stream, span in zip(trial.streams, spans, strict=True)
        ]
        total = together(spans)
        summed = _amounts(total) | _sum_extra(trial, total, sender=sender) | last
        self.intervals.append({"streams": streams, "sum": summed})
        return ""

    def finish(
        self, trial: Trial, side: str, sent: list[IntervalRow], received: list[IntervalRow]
    ) -> str:
        """The results of both ends. A server that received does not know what was sent."""
        numbers = [int(stream.name(side)) for stream in trial.streams]
        each = list(zip(numbers, sent, received, strict=True))
        each.append((0, together(sent), together(received)))
        fill = self._finish_udp if trial.plan.udp else self._finish_tcp
        fill(each, sender=trial.sends(side))
        names = ("host_total", "host_user", "host_system", "remote_total", "remote_user")
        self.end["cpu_utilization_percent"] = dict.fromkeys((*names, "remote_system"), 0)
        if not trial.plan.udp:
            if side == "client":
                self.end["sender_tcp_congestion"] = "cubic"
            self.end["receiver_tcp_congestion"] = "cubic"
        return ""

    def _finish_udp(self, each: list[_Result], *, sender: bool) -> None:
        *streams, (_, sent, received) = each
        self.end["streams"] = [
            {
                "udp": {"socket": number, **_amounts(out), **_losses(into), "out_of_order": 0}
                | {"sender": sender}
            }
            for number, out, into in streams
        ]
        clean = {"jitter_ms": 0, "lost_packets": 0, "packets": sent.packets, "lost_percent": 0}
        self.end |= {
            "sum": _amounts(sent) | _losses(received) | {"sender": sender},
            "sum_sent": _amounts(sent) | clean | {"sender": True},
            "sum_received": _amounts(received) | _losses(received) | {"sender": False},
        }

    def _finish_tcp(self, each: list[_Result], *, sender: bool) -> None:
        *streams, (_, sent, received) = each
        window = {"max_snd_cwnd": CONGESTION_WINDOW_BYTES, "max_snd_wnd": 0}
        trips = {"max_rtt": RTT_US, "min_rtt": RTT_US, "mean_rtt": RTT_US}

        def again(span: IntervalRow) -> Object:
            return {"retransmits": span.retransmits} if sender else {}

        details = window | trips if sender else {}
        last = {"sender": sender}
        self.end |= {
            "streams": [
                {
                    "sender": {"socket": number, **_amounts(out), **again(out), **details, **last},
                    "receiver": {"socket": number, **_amounts(into), **last},
                }
                for number, out, into in streams
            ],
            "sum_sent": _amounts(sent) | again(sent) | last,
            "sum_received": _amounts(received) | last,
        }


def _buffers(plan: Iperf3Plan) -> Object:
    actual = (2 * plan.window_bytes, 2 * plan.window_bytes)
    if not plan.window_bytes:
        actual = UDP_BUFFERS if plan.udp else TCP_BUFFERS
    return {
        "sock_bufsize": plan.window_bytes,
        "sndbuf_actual": actual[0],
        "rcvbuf_actual": actual[1],
    }


def _ends(trial: Trial, side: str, server_port: int, stream: Iperf3Stream) -> Object:
    own, other = trial.ends(side, server_port, stream)
    return {
        "socket": int(stream.name(side)),
        "local_host": own[0],
        "local_port": own[1],
        "remote_host": other[0],
        "remote_port": other[1],
    }


def _amounts(span: IntervalRow) -> Object:
    return {
        "start": span.start_s,
        "end": span.end_s,
        "seconds": span.seconds,
        "bytes": span.sent_bytes,
        "bits_per_second": span.bits_per_s,
    }


def _losses(span: IntervalRow) -> Object:
    return {
        "jitter_ms": span.jitter_ms,
        "lost_packets": span.lost,
        "packets": span.packets,
        "lost_percent": span.lost_percent,
    }


def _stream_extra(trial: Trial, span: IntervalRow, *, sender: bool) -> Object:
    if trial.plan.udp or not sender:
        return _sum_extra(trial, span, sender=sender)
    return {
        "retransmits": span.retransmits,
        "snd_cwnd": span.congestion_window,
        "snd_wnd": 0,
        "rtt": RTT_US,
        "rttvar": RTT_US // 2,
        "pmtu": 1500,
    }


def _sum_extra(trial: Trial, span: IntervalRow, *, sender: bool) -> Object:
    if trial.plan.udp:
        return {"packets": span.packets} if sender else _losses(span)
    return {"retransmits": span.retransmits} if sender else {}
