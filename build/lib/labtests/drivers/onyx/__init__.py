"""A switch of NVIDIA/Mellanox with Onyx (MLNX-OS), reached by its CLI: `show ... | json-print`."""

from labtests.drivers.onyx.driver import KIND, SESSION, driver_of

__all__ = ["KIND", "SESSION", "driver_of"]
