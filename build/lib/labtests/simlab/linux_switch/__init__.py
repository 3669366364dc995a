"""An emulated Linux switch: a Linux box whose bridged ports have tc queues (htb, fifo, RED, u32).

`tc` prints what the real one prints and refuses what it refuses; the trees that it takes do to the
packet network what they say (binding.py). What is not emulated says so.
"""

from labtests.simlab.linux_switch.switch import LinuxSwitch

__all__ = ["LinuxSwitch"]
