"""What suites write with: roles, settings, traffic, phases, and judging what was seen."""

from labtests.experiment.fitting import Class, NotHere
from labtests.experiment.incast import Incast
from labtests.experiment.judging import NotPassed
from labtests.experiment.pace import HARDWARE, LIVE, SIMULATED, Pace, Span, real_pace
from labtests.experiment.refresh import measure
from labtests.experiment.ring import Ring
from labtests.experiment.roles import Role, Roles, roles_of

__all__ = [
    "HARDWARE",
    "LIVE",
    "SIMULATED",
    "Class",
    "Incast",
    "NotHere",
    "NotPassed",
    "Pace",
    "Ring",
    "Role",
    "Roles",
    "Span",
    "measure",
    "real_pace",
    "roles_of",
]
