"""The recordings under tests/transcripts/comware: how one is loaded, read and rendered.

    $ display packet-drop summary                      the command
    # source: ...; platform; white space verbatim      where it is from
    All interfaces:                                    the output, byte for byte

`<parser>.<label>.txt` is read by `parse_<parser>`; `<parser>.<label>.expected` is what it says.
"""

from pathlib import Path
from pprint import pformat

from labtests.core.errors import UnreadableOutput
from labtests.drivers import comware
from labtests.transport.protocol import Reply

FOLDER = Path(__file__).parents[1] / "transcripts" / "comware"
RECORDINGS = sorted(FOLDER.glob("*.txt"))
PARSERS = {
    name.removeprefix("parse_"): parse
    for name, parse in vars(comware).items()
    if name.startswith("parse_")
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
