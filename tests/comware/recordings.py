"""The recordings under tests/transcripts/comware: how one is loaded, read and rendered.

    $ display packet-drop summary                      the command
    # source: ...; platform; white space verbatim      where it is from
    All interfaces:                                    the output, byte for byte

`<parser>.<label>.txt` is read by PARSERS[<parser>]; `<parser>.<label>.expected` is what it says.
"""

from pathlib import Path
from pprint import pformat

from labtests.core.errors import UnreadableOutput
from labtests.drivers.comware import (
    clock,
    configuration,
    drops,
    interfaces,
    lldp,
    maps,
    pfc,
    queues,
    scheduling,
    trust,
    versions,
    wred,
)
from labtests.transport.protocol import Reply

FOLDER = Path(__file__).parents[1] / "transcripts" / "comware"
RECORDINGS = sorted(FOLDER.glob("*.txt"))
PARSERS = {
    "clock": clock.parse_clock,
    "configuration": configuration.parse_configuration,
    "interface": interfaces.INTERFACE.read,
    "lldp_neighbors": lldp.parse_lldp_neighbors,
    "map_table": maps.parse_map_table,
    "packet_drop": drops.DROPS.read,
    "priority_flow_control": pfc.PORTS.read,
    "qos_trust": trust.TRUSTED.read,
    "qos_wred_interface": wred.APPLIED.read,
    "qos_wred_table": wred.parse_qos_wred_table,
    "queue_schedule": scheduling.SCHEDULERS[0].read,
    "queue_statistics": queues.QUEUES.read,
    "version": versions.parse_version,
}


def label(recording):
    return recording.stem


def load(recording):
    """The recorded answer. `recording` is a path, or the file's name without `.txt`."""
    path = recording if isinstance(recording, Path) else FOLDER / f"{recording}.txt"
    command, source, text = path.read_text(encoding="utf-8").split("\n", 2)
    assert command.startswith("$ "), path
    assert source.startswith("# source: "), path
    return Reply(device="recorded", command=command.removeprefix("$ "), text=text)


def parser_of(recording):
    return PARSERS[recording.name.split(".")[0]]


def rendered(recording):
    """What the parser reads, one line for each record, or `refused: <why>`."""
    try:
        read = parser_of(recording)(load(recording))
    except UnreadableOutput as refusal:
        return f"refused: {refusal.problem}\n"
    if isinstance(read, dict):
        return "".join(f"{key} = {pformat(value, width=96)}\n" for key, value in read.items())
    return "".join(f"{pformat(record, width=96)}\n" for record in read)


def is_read(recording):
    return not rendered(recording).startswith("refused: ")
