"""An emulated SONiC switch: CONFIG_DB, and programs on its Linux shell that read and write it."""

from labtests.simlab.sonic.box import SonicBox

__all__ = ["SonicBox"]
