"""Comware switches (H3C and HPE): views of text in, records out. What is not known is refused."""

from labtests.drivers.comware.driver import KIND, SESSION, driver_of

__all__ = ["KIND", "SESSION", "driver_of"]
