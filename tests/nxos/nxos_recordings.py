"""The recordings under tests/transcripts/nxos: how one is loaded, read and rendered.

`<parser>.<label>.txt` is read by PARSERS[<parser>]; `<parser>.<label>.expected` is what it says.
"""

from dataclasses import replace
from pathlib import Path
from pprint import pformat

from labtests.core.errors import UnreadableOutput
from labtests.drivers.nxos import clock, configuration, interfaces, lldp, pfc, queuing, versions
from labtests.transport.protocol import Reply

FOLDER = Path(__file__).parents[1] / "transcripts" / "nxos"
CLOCK = "18:57:38.347 UTC Mon Oct 19 2015\n"


def with_the_clock(reply):
    """A configuration as labtests asks for it: with `show clock` behind it, which recordings of it
    do not have."""
    behind = CLOCK if reply.text.endswith("\n") else ""
    return configuration.parse_configuration(replace(reply, text=reply.text + behind))


PARSERS = {
    "clock": clock.parse_clock,
    "configuration": with_the_clock,
    "interface": interfaces.parse_interface,
    "lldp": lldp.parse_lldp_neighbors,
    "pfc_detail": pfc.parse_pfc_detail,
    "queuing": queuing.QUEUING.read,
    "version": versions.parse_version,
}
RECORDINGS = sorted(each for each in FOLDER.glob("*.txt") if each.name.split(".")[0] in PARSERS)


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
