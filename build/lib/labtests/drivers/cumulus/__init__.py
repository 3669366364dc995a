"""A switch with Cumulus Linux 5 and NVUE, reached by a shell: `nv show ... -o json`, `nv set`."""

from labtests.drivers.cumulus.driver import KIND, SESSION, driver_of

__all__ = ["KIND", "SESSION", "driver_of"]
