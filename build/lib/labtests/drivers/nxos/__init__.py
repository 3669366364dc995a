"""Nexus 9000 switches with NX-OS: text in, records out. What is not known is refused."""

from labtests.drivers.nxos.driver import KIND, SESSION, driver_of

__all__ = ["KIND", "SESSION", "driver_of"]
