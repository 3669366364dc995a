"""The box below the shell: CONFIG_DB, what daemons make of it, and the ports."""

from collections.abc import Callable

from labtests.core.headroom import headroom_for
from labtests.inventory import Device
from labtests.simlab.lab import SimulatedLab
from labtests.simlab.refreshing import Counted
from labtests.simlab.sonic.database import CELL_BYTES, POOL, Cabled, ConfigDb
from labtests.simlab.switch_cli import Chassis, CountingRules

_REFRESHED: dict[Counted, float] = {"traffic": 1, "pfc": 1, "drops": 1, "queues": 1}
_POLLED: dict[str, tuple[Counted, ...]] = {
    "PORT": ("traffic", "pfc"),
    "QUEUE": ("queues",),
    "PG_DROP": ("drops",),
}
"""What each flex counter reads from hardware."""
_MTU = 9100
_NO_CABLE = (25_000_000_000, 5.0)  # bit/s, metres
_RULES = CountingRules(growing={"RX_ERR": "crc_errors", "PG drops": "input_buffer_drops"})


class SonicChassis(Chassis):
    """The box below the shell."""

    def __init__(self, lab: SimulatedLab, device: Device) -> None:
        super().__init__(lab, device, _RULES, _REFRESHED)
        self.lab = lab
        self.on_change: list[Callable[[], None]] = []
        self.cabled = {each: self._cabled(each) for each in self.ports}
        self.db = ConfigDb(tuple(self.cabled.values()))
        self.db.install()
        self.save()
        self.apply_all()

    def _cabled(self, port: str) -> Cabled:
        link = self._link(port)
        bits_per_s, metres = (link.speed_bits_per_s, link.length_m) if link else _NO_CABLE
        cells = headroom_for(bits_per_s, metres, frame_bytes=_MTU + 18)
        return Cabled(port, bits_per_s // 10**6, round(metres), cells)

    def change(self, act: Callable[[], None]) -> None:
        """CONFIG_DB is changed, and what follows from it done."""
        if self.faults.lies:
            return
        enabled = {port: self._enabled(port) for port in self.ports}
        act()
        for port, before in enabled.items():
            if (now := self._enabled(port)) != before:
                self.db.enable_groups(self.cabled[port], now)
        self.apply_all()

    def _enabled(self, port: str) -> str:
        return self.db.entry("PORT_QOS_MAP", port).get("pfc_enable", "")

    def apply_all(self) -> None:
        """All ports do what CONFIG_DB says. The network has one map from TC to queue for a switch:
        while ports differ, it stays as it was."""
        for port in self.ports:
            self.renew(port)
        maps = {self.db.map_of(p, "tc_to_queue_map", "TC_TO_QUEUE_MAP", 8) for p in self.ports}
        for priority, queue in enumerate((maps.pop() or range(8)) if len(maps) == 1 else ()):
            if self.network.dot1p_lp[priority] != queue:
                self.network.set_dot1p_lp(priority, queue)
        self._poll()
        self._size_pool()
        for act in self.on_change:
            act()

    def _poll(self) -> None:
        """Counters are read as often as it is told."""
        for name, kinds in _POLLED.items():
            told = self.db.entry("FLEX_COUNTER_TABLE", name).get("POLL_INTERVAL", "1000")
            for kind in kinds:
                if self.shown.usual.get(kind) != (seconds := int(told) / 1000):
                    self.shown.refresh_every(kind, seconds)

    def _size_pool(self) -> None:
        """It is what headroom and reserves leave of the memory."""
        if POOL in self.db.tables["BUFFER_POOL"]:
            size = self.network.memory_use().shared_cells * CELL_BYTES
            self.db.tables["BUFFER_POOL"][POOL]["size"] = str(size)

    def renew(self, port: str) -> None:
        """See Chassis."""
        self.apply(port, self.db.behaviour(self.cabled[port]))

    def save(self) -> None:
        """`config save -y`."""
        self._saved = self.db.copy()

    def load_saved(self) -> None:
        """See Chassis."""
        self.db.tables = self._saved
        self.save()
        self.apply_all()
