"""`| json`: what displays have as objects.

Of `show version` and `show interface` by mocked replies (recordings); of the others by the schema
in the command reference of Cisco and programs that read them. What a counter is called where only
the text is recorded is the word of the text; that numbers are texts is from memory.
"""

import json
from collections.abc import Callable

from labtests.simlab import switch_cli as kit
from labtests.simlab.nxos import displays, watchdog
from labtests.simlab.nxos.displays import Shown


def _as_json(told: Callable[[kit.CliSession, kit.CliCall], Shown]) -> kit.CliCommand:
    """`| json`: on one line, as an answer of a device has it."""
    return kit.CliCommand(lambda session, call: json.dumps(told(session, call)) + "\n")


def _version_told(session: kit.CliSession, call: kit.CliCall) -> Shown:
    up_s = int(session.switch.uptime_s())
    return {
        "header_str": "Cisco Nexus Operating System (NX-OS) Software\n",
        "sys_ver_str": displays.VERSION,
        "chassis_id": f"{displays.MODEL} chassis",
        "host_name": session.switch.hostname,
        "kern_uptm_days": up_s // 86400,
        "kern_uptm_hrs": up_s // 3600 % 24,
        "kern_uptm_mins": up_s // 60 % 60,
        "kern_uptm_secs": up_s % 60,
        "manufacturer": "Cisco Systems, Inc.",
    }


def _rows(**tables: list[Shown]) -> Shown:
    """A row is an object, several a list."""
    return {
        f"TABLE_{name}": {f"ROW_{name}": rows if len(rows) > 1 else rows[0]}
        for name, rows in tables.items()
    }


def _interfaces_told(session: kit.CliSession, call: kit.CliCall) -> Shown:
    rows = []
    for port in session.ports(call):
        told = displays.interface_shown(session.switch, port)
        up = told["linked"]
        rows.append({
            "interface": port,
            "state": "up" if up else "down",
            "admin_state": told["admin"],
            "share_state": "Dedicated",
            "eth_hw_desc": "Ethernet",
            "eth_hw_addr": told["address"],
            "eth_bia_addr": told["address"],
            "eth_mtu": str(told["mtu"]),
            "eth_bw": told["rate_bits_per_s"] // 1000,
            "eth_dly": 10,
            "medium": "broadcast",
            "eth_mode": "access",
            "eth_duplex": "full" if up else "auto",
            "eth_speed": f"{told['rate_bits_per_s'] // 10**9} Gb/s" if up else "auto-speed",
            "eth_autoneg": "on",
            "eth_link_flapped": "never",
        })  # fmt: skip
    return _rows(interface=rows)


_TOLD = (
    ("Tx", "Pkts", "forwarded_packets"),
    ("Tx", "Byts", "forwarded_bytes"),
    ("WRED/AFD & Tail Drop", "Pkts", "dropped_packets"),
    ("WRED/AFD & Tail Drop", "Byts", "dropped_bytes"),
    ("ECN", "Pkts", "marked_packets"),
)


def _queuing_told(session: kit.CliSession, call: kit.CliCall) -> Shown:
    """What queues count, and pauses."""
    found: list[Shown] = []
    for port in session.ports(call):
        shown = displays.queuing_shown(session.switch, port)
        groups = [
            {"eq-qosgrp": str(queue), **_rows(qosgrp_egress_stats_entry=[
                {"eq-stat-type": what, "eq-stat-units": unit, "eq-mc-stat-value": "0",
                 "eq-uc-stat-value": str(getattr(each, name))}
                for what, unit, name in _TOLD
            ])}
            for queue, each in enumerate(shown["queues"])
        ]  # fmt: skip
        pauses = [
            {"cos": str(cos), "tx-pause-state": "Inactive", "tx-pause-count": str(each.sent),
             "rx-pause-state": "Inactive", "rx-pause-count": str(each.received)}
            for cos, each in enumerate(shown["pauses"])
        ]  # fmt: skip
        drops = {"ip-stat-type": "Ingress Overflow Drop", "ip-stat-units": "Pkts",
                 "ip-stat-value": str(shown["drops"].input_drops)}  # fmt: skip
        pfc = {"tx-ppp": str(sum(each.sent for each in shown["pauses"])),
               "rx-ppp": str(sum(each.received for each in shown["pauses"]))}  # fmt: skip
        found += [
            {"dir": "Egress", "if_name_str": port, **_rows(qosgrp_egress_stats=groups)},
            {"dir": "Ingress", "if_name_str": port, **pfc,
             **_rows(ingress_stats_entry=[drops], pfc_stats=pauses)},
        ]  # fmt: skip
    return _rows(module=[_rows(queuing_interface=found)])


_COUNTERS = {
    "uc-tx-pkts": "forwarded_packets", "uc-drop-pkts": "dropped_packets",
    "uc-ecn-mark-pkts": "marked_packets", "pfc-tx-pkts": "sent", "pfc-rx-pkts": "received",
}  # fmt: skip


def _tabular_told(session: kit.CliSession, call: kit.CliCall) -> Shown:
    """A row for each counter, and in it each qos-group."""
    found = []
    for port in session.ports(call):
        shown = displays.queuing_shown(session.switch, port)
        both = [
            {name: getattr(queue if hasattr(queue, name) else pauses, name)
             for name in _COUNTERS.values()}
            for queue, pauses in zip(shown["queues"], shown["pauses"], strict=True)
        ]  # fmt: skip
        counters = [
            {"counter_name_str": words, **{f"qos_group_{n}": str(of[name])
                                           for n, of in enumerate(both)}}
            for words, name in _COUNTERS.items()
        ]  # fmt: skip
        found.append({"if_name_str": port, **_rows(queuing_counter=counters)})
    return _rows(module=[_rows(queuing_interface=found)])


def _watchdog_told(session: kit.CliSession, call: kit.CliCall) -> Shown:
    """The switch's times, and which queues of a port are shut."""
    switch, times = session.switch, watchdog.times(session.switch)
    on = watchdog.is_on(switch.configuration.root)
    rows = []
    for port in session.ports(call):
        row = watchdog.row(switch, port)
        states = {f"qosgrp_{7 - n}_state": state for n, state in enumerate(row["states"])}
        status = "Enabled" if row["on"] else "Disabled"
        rows.append(
            {"if_name_str": port, "wd-status": status, "vl-bmp": f"0x{row['bitmap']:x}", **states}
        )
    told = {"glb-wd-timer": times["interval"], "glb-wd-timer-thresh": times["shutdown"],
            "glb-auto-restore": times["auto"], "glb-fixed-restore": times["fixed"]}  # fmt: skip
    words = {name: str(number) for name, number in told.items()}
    return {
        "glb-wd-status": "Enabled" if on else "Disabled",
        **words,
        **_rows(queuing_interface=rows),
    }


DISPLAYS = {
    **displays.DISPLAYS,
    "show version | json": _as_json(_version_told),
    "show interface [ <port> ] | json": _as_json(_interfaces_told),
    "show queuing interface [ <port> ] | json": _as_json(_queuing_told),
    "show queuing tabular [ interface <port> ] | json": _as_json(_tabular_told),
    "show queuing pfc-queue [ interface <port> ] | json": _as_json(_watchdog_told),
}
