"""An emulated Cumulus Linux switch: the program `nv` in front of a tree of settings."""

from labtests.simlab.cumulus.box import CumulusBox

__all__ = ["CumulusBox"]
