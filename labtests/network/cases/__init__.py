"""What-if cases of the packet network: a YAML file in, figures out (docs/network-cases.md).

form, reader: the file and its mistakes. building: a case as a network. running: time passes,
figures are taken. figures: what came out; printing, drawing: as text and as SVG.
"""

from labtests.network.cases.figures import Figures
from labtests.network.cases.form import CaseFile
from labtests.network.cases.reader import load
from labtests.network.cases.running import run

__all__ = ["CaseFile", "Figures", "load", "run"]
