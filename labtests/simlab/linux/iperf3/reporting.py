"""What a side of a test says: rows as they come, or one JSON document at the end."""

from typing import Any

from labtests.simlab.linux.iperf3 import document, rows
from labtests.simlab.linux.iperf3.plan import MSS_BYTES, VERSION, Iperf3Plan
from labtests.simlab.linux.iperf3.rows import IntervalRow
from labtests.simlab.linux.iperf3.trial import CONGESTION_WINDOW_BYTES, Trial, together

Object = dict[str, Any]
TCP_BUFFERS = (16384, 131072)
UDP_BUFFERS = (212992, 212992)
RTT_US = 87  # of an idle 10G path; not simulated per stream


class Text:
    """Rows as iperf3 prints them."""

    def __init__(self, plan: Iperf3Plan) -> None:
        self._plan = plan

    def connected(self, trial: Trial, side: str, server_port: int) -> str:
        """One line per stream, and the heading."""
        lines = ""
        for stream in trial.streams:
            own, other = (
                (trial.client_address, stream.client_port),
                (trial.server_address, server_port),
            )
            if side == "server":
                own, other = other, own
            lines += (
                f"[{stream.name(side):>3}] local {own[0]} port {own[1]} "
                f"connected to {other[0]} port {other[1]}\n"
            )
        return lines + rows.heading(udp=trial.plan.udp, sender=trial.sends(side))

    def interval(self, trial: Trial, side: str, spans: list[IntervalRow]) -> str:
        """A row per stream; with several their sum and a separator."""
        sender, form = trial.sends(side), self._plan.form
        row = rows.udp_row if trial.plan.udp else rows.tcp_row
        text = "".join(
            row(stream.name(side), span, form, sender=sender)
            for stream, span in zip(trial.streams, spans, strict=True)
        )
        if len(spans) > 1:
            text += row("SUM", together(spans), form, sender=sender) + rows.SEPARATOR
        return text

    def summary(
        self, trial: Trial, side: str, sent: list[IntervalRow], received: list[IntervalRow]
    ) -> str:
        """The client knows both ends of each stream, the server its own."""
        udp, form = trial.plan.udp, self._plan.form
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
                text += row(name, lists[role][at], form, role)
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
        """What is printed."""
        whole: Object = {"start": self.start, "intervals": self.intervals, "end": self.end}
        if self.error is not None:
            whole["error"] = self.error
        return document.dump(whole) + "\n"

    def begin(self, trial: Trial, side: str, server_port: int, timestamp: Object) -> None:
        """Who is connected to whom, and what was asked for."""
        plan = trial.plan
        self.start["connected"] = [
            _ends(trial, side, server_port, int(stream.name(side)), stream.client_port)
            for stream in trial.streams
        ]
        buffers = UDP_BUFFERS if plan.udp else TCP_BUFFERS
        if plan.window_bytes:
            buffers = (2 * plan.window_bytes, 2 * plan.window_bytes)
        sizes = {
            "sock_bufsize": plan.window_bytes,
            "sndbuf_actual": buffers[0],
            "rcvbuf_actual": buffers[1],
        }
        rate = {"target_bitrate": plan.rate_bits_per_s}
        if side == "client":
            self.start["timestamp"] = timestamp
            self.start["connecting_to"] = {"host": plan.server, "port": plan.port}
            self.start["cookie"] = trial.cookie
            if not plan.udp:
                self.start["tcp_mss_default"] = MSS_BYTES
            self.start |= rate | sizes
        else:
            self.start |= sizes | {"timestamp": timestamp}
            host = {"host": trial.client_address, "port": trial.control_port}
            self.start |= {"accepted_connection": host, "cookie": trial.cookie}
            if not plan.udp:
                self.start["tcp_mss_default"] = 0
            self.start |= rate
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

    def interval(self, trial: Trial, side: str, spans: list[IntervalRow]) -> None:
        """One interval of all streams."""
        sender = trial.sends(side)
        streams = []
        for stream, span in zip(trial.streams, spans, strict=True):
            extra = _stream_extra(trial, span, sender=sender)
            streams.append(
                {"socket": int(stream.name(side)), **_amounts(span), **extra}
                | {"omitted": False, "sender": sender}
            )
        total = together(spans)
        extra = _sum_extra(trial, total, sender=sender)
        summed = _amounts(total) | extra | {"omitted": False, "sender": sender}
        self.intervals.append({"streams": streams, "sum": summed})

    def finish(
        self, trial: Trial, side: str, sent: list[IntervalRow], received: list[IntervalRow]
    ) -> None:
        """The results of both ends. A server that received does not know what was sent."""
        sender = trial.sends(side)
        numbers = [int(stream.name(side)) for stream in trial.streams]
        if trial.plan.udp:
            self._finish_udp(numbers, sent, received, sender=sender)
        else:
            self._finish_tcp(numbers, sent, received, sender=sender)
        names = ("host_total", "host_user", "host_system", "remote_total", "remote_user")
        self.end["cpu_utilization_percent"] = dict.fromkeys((*names, "remote_system"), 0)
        if not trial.plan.udp:
            if side == "client":
                self.end["sender_tcp_congestion"] = "cubic"
            self.end["receiver_tcp_congestion"] = "cubic"

    def _finish_udp(
        self,
        numbers: list[int],
        sent: list[IntervalRow],
        received: list[IntervalRow],
        *,
        sender: bool,
    ) -> None:
        self.end["streams"] = [
            {
                "udp": {"socket": number, **_amounts(out), **_losses(into), "out_of_order": 0}
                | {"sender": sender}
            }
            for number, out, into in zip(numbers, sent, received, strict=True)
        ]
        all_sent, all_received = together(sent), together(received)
        clean = {"jitter_ms": 0, "lost_packets": 0, "packets": all_sent.packets, "lost_percent": 0}
        self.end |= {
            "sum": _amounts(all_sent) | _losses(all_received) | {"sender": sender},
            "sum_sent": _amounts(all_sent) | clean | {"sender": True},
            "sum_received": _amounts(all_received) | _losses(all_received) | {"sender": False},
        }

    def _finish_tcp(
        self,
        numbers: list[int],
        sent: list[IntervalRow],
        received: list[IntervalRow],
        *,
        sender: bool,
    ) -> None:
        window = {"max_snd_cwnd": CONGESTION_WINDOW_BYTES, "max_snd_wnd": 0}
        trips = {"max_rtt": RTT_US, "min_rtt": RTT_US, "mean_rtt": RTT_US}
        streams = []
        for number, out, into in zip(numbers, sent, received, strict=True):
            details = {"retransmits": out.retransmits, **window, **trips} if sender else {}
            streams.append(
                {
                    "sender": {"socket": number, **_amounts(out), **details, "sender": sender},
                    "receiver": {"socket": number, **_amounts(into), "sender": sender},
                }
            )
        total = together(sent)
        details = {"retransmits": total.retransmits} if sender else {}
        self.end |= {
            "streams": streams,
            "sum_sent": _amounts(total) | details | {"sender": sender},
            "sum_received": _amounts(together(received)) | {"sender": sender},
        }


def _ends(trial: Trial, side: str, server_port: int, number: int, client_port: int) -> Object:
    own, other = (trial.client_address, client_port), (trial.server_address, server_port)
    if side == "server":
        own, other = other, own
    return {
        "socket": number,
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
