"""Sessions with real devices, and with simulated ones, over SSH."""

from labtests.transport.ssh.connecting import SHELL, connect, connect_all

__all__ = ["SHELL", "connect", "connect_all"]
