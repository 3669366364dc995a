"""A Linux box whose ports have `tc` queues (htb, prio, ets; fifo, RED), reached by a shell.

Needs iproute2 5.0 or newer there. What the tree of a port may look like: docs/testbeds.md.
"""

from labtests.drivers.linux_switch.driver import KIND, SESSION, driver_of

__all__ = ["KIND", "SESSION", "driver_of"]
