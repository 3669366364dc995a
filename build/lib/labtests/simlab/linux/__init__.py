"""An emulated Linux server with ConnectX NICs: shell, files, processes, and the lab's tools.

The faces' packet side is labtests.network; every text here is as recordings print it, never
as labtests' own parsers would like it.
"""

from labtests.simlab.linux.host import LinuxHost

__all__ = ["LinuxHost"]
