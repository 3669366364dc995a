"""All faults, family by family."""

from labtests.faults.declared import Declared
from labtests.faults.families import (
    cables,
    counters,
    firmware,
    hosts,
    nics,
    people,
    switch_defects,
    switch_settings,
    tools,
)

CATALOGUE: tuple[Declared, ...] = (
    *hosts.FAULTS,
    *nics.FAULTS,
    *firmware.FAULTS,
    *cables.FAULTS,
    *switch_settings.FAULTS,
    *switch_defects.FAULTS,
    *counters.FAULTS,
    *tools.FAULTS,
    *people.FAULTS,
)
