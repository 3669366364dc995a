"""A switch with SONiC (one ASIC), reached by a shell: settings in CONFIG_DB, counters by `show`."""

from labtests.drivers.sonic.driver import KIND, SESSION, driver_of

__all__ = ["KIND", "SESSION", "driver_of"]
