"""The saved configuration, which a switch starts with."""

from copy import deepcopy
from dataclasses import dataclass

from labtests.simlab.comware.configuration import Configuration, PortConfiguration, WredTable

MAPS = ("dscp-dot1p", "dot1p-lp")


@dataclass(frozen=True, slots=True, kw_only=True)
class Startup:
    """A copy of the running configuration, as `save` makes it."""

    sysname: str
    globals: set[str]
    ports: dict[str, PortConfiguration]
    tables: dict[str, WredTable]
    maps: dict[str, tuple[int, ...]]

    def load(self, running: Configuration) -> None:
        """It runs with this again, and with nothing else."""
        mine = deepcopy(self)
        running.sysname, running.globals = mine.sysname, mine.globals
        running.ports, running.tables = mine.ports, mine.tables
        for name, values in mine.maps.items():
            for value, export in enumerate(values):
                running.set_map(name, value, export)
        for port in running.ports:
            running.apply(port)


def saved(running: Configuration) -> Startup:
    """What `save` writes down."""
    return deepcopy(
        Startup(
            sysname=running.sysname,
            globals=running.globals,
            ports=running.ports,
            tables=running.tables,
            maps={name: running.map(name) for name in MAPS},
        )
    )
