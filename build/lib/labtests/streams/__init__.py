"""What switches stream while a lab is open: gNMI, where labtests subscribes, and H3C's dial-out,
where switches dial labtests. Threads of their own, memory with a bound; the run waits for none of
them, and nothing that is missing is filled in (docs/telemetry.md).
"""

from labtests.streams.collectors import Collectors, Listener
from labtests.streams.source import StreamSource

__all__ = ["Collectors", "Listener", "StreamSource"]
