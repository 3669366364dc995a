"""What a CLI prints, read by declaration.

A driver says how each line shows (shapes.py), which lines stand under which (lines.py), what the
columns of a table hold (tables.py; ruled.py where a ruler tells them apart), which fields an answer
in JSON has (objects.py), how the sections of a configuration are parted (sections.py), and which
lines of a log are messages (logs.py). Here it is read, and refused where it is not as declared: a
line that is new, one too many, an end too early. So are its interface names (names.py) and the
words by which it says no (refusals.py). What all drivers of a CLI do with these is in cli.py and,
of links and what interfaces count, in interfaces.py; of the box itself in box.py.
"""

from labtests.drivers.displays.box import CliBox, first_said, in_the_way, utc_s
from labtests.drivers.displays.cli import (
    Cli,
    CliPart,
    CliState,
    LineSetting,
    PortDisplay,
    PortShutting,
    ViewSetting,
)
from labtests.drivers.displays.interfaces import CliInterfaces, Count, CounterWords, Counts
from labtests.drivers.displays.lines import ANY, MAYBE, ONCE, SOME, Line, Notation, read, read_one
from labtests.drivers.displays.logs import LogOf, of_testbed
from labtests.drivers.displays.names import Names
from labtests.drivers.displays.objects import Fields, Rows, read_json
from labtests.drivers.displays.ranges import numbers_in, written
from labtests.drivers.displays.refusals import Refusals
from labtests.drivers.displays.ruled import Ruled, read_ruled
from labtests.drivers.displays.sections import Indented, Marked, Nested, Section
from labtests.drivers.displays.shapes import Shape, Unfit, ValueKind
from labtests.drivers.displays.tables import Table, read_table, read_tables, read_variant, variants

__all__ = [
    "ANY",
    "MAYBE",
    "ONCE",
    "SOME",
    "Cli",
    "CliBox",
    "CliInterfaces",
    "CliPart",
    "CliState",
    "Count",
    "CounterWords",
    "Counts",
    "Fields",
    "Indented",
    "Line",
    "LineSetting",
    "LogOf",
    "Marked",
    "Names",
    "Nested",
    "Notation",
    "PortDisplay",
    "PortShutting",
    "Refusals",
    "Rows",
    "Ruled",
    "Section",
    "Shape",
    "Table",
    "Unfit",
    "ValueKind",
    "ViewSetting",
    "first_said",
    "in_the_way",
    "numbers_in",
    "of_testbed",
    "read",
    "read_json",
    "read_one",
    "read_ruled",
    "read_table",
    "read_tables",
    "read_variant",
    "utc_s",
    "variants",
    "written",
]
