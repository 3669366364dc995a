"""Displays of NX-OS and SONiC, read by declaration: how drivers for them begin."""

import re

from labtests.drivers import displays

NXOS = displays.Notation()
PFC = displays.Table(
    about=NXOS.columns(
        {"Port": "port", "Mode": "mode:Auto|On|Off", r"Oper\(VL bmap\)": "oper:Off|On.*"}
    ),
    details=NXOS.columns({"RxPPP": "received:number", "TxPPP": "sent:number"}),
    make=dict,
    into="frames",
    passed=re.compile("=+"),
)
QUEUING = NXOS.record(
    r"Egress Queuing for <port> \[System\]",
    NXOS.record(
        r"\| QOS GROUP <group:0-7> \|",
        NXOS.maybe(r"\| \| Unicast \| OOBFC Unicast \| Multicast \|"),
        NXOS.maybe(r"\| Tx Pkts \|\s*<sent:number>\| Dropped Pkts \|\s*<dropped:number>\|"),
        NXOS.record(
            r"\| <counter:Tx Pkts|Tx Byts|Dropped Pkts> "
            r"\|\s*<unicast:number>\|\s*<oobfc:number>\|\s*<multicast:number>\|",
            make=dict,
            into="rows",
            times=displays.ANY,
            order="unique",
        ),
        make=dict,
        into="groups",
        order="ascending",
    ),
    NXOS.line("Port Egress Statistics"),
    NXOS.line("WRED Drop Pkts <wred_dropped:number>"),
    NXOS.line("Ingress Queuing for <:>"),
    NXOS.line("Port Ingress Statistics"),
    NXOS.line("Ingress MMU Drop Pkts <mmu_dropped:number>"),
    NXOS.line("Ingress MMU Drop Bytes <mmu_dropped_bytes:number>"),
    NXOS.line("PFC Statistics"),
    NXOS.line("TxPPP: <pause_sent:number>, RxPPP: <pause_received:number>"),
    NXOS.line("COS QOS Group PG TxPause TxCount RxPause RxCount"),
    NXOS.record(
        "<cos:0-7> <:> <:> <:Inactive|Active> <sent:number> <:Inactive|Active> <received:number>",
        make=dict,
        into="classes",
        order="ascending",
    ),
    make=dict,
)
_PORTS = displays.Rows(displays.Fields({"interface": "port"}, rest="counters:number"))
_TABLE = displays.Fields({"ROW_interface": ("ports", _PORTS)})
COUNTERS = displays.Fields({"TABLE_interface": ("table", _TABLE)})

SONIC = displays.Notation().also(
    count=displays.ValueKind(
        "[0-9,]+|N/A", lambda text: None if text == "N/A" else int(text.replace(",", ""))
    )
)
_PRIORITIES = SONIC.columns({f"PFC{n}": f"priority_{n}:count" for n in range(8)})
PAUSED = [
    displays.Table(about=(*SONIC.columns({f"Port {side}": "port"}), *_PRIORITIES), make=dict)
    for side in ("Rx", "Tx")
]

READERS = {
    "nxos/priority_flow_control.ucs": lambda reply: displays.read_table(reply, PFC),
    "nxos/queuing.n9k": lambda reply: displays.read(reply, QUEUING, skip=re.compile(r"[-+\s]*")),
    "nxos/counters_detailed.nexus3548": lambda reply: displays.read_json(reply, COUNTERS, NXOS),
    "sonic/pfc_counters.all": lambda reply: displays.read_tables(reply, *PAUSED),
}
