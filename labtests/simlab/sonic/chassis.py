"""The box below the shell: CONFIG_DB, what daemons make of it, and the ports."""

from collections.abc import Callable, Mapping
from copy import deepcopy

from labtests.core.headroom import headroom_for
from labtests.inventory import Device
from labtests.simlab.lab import SimulatedLab
from labtests.simlab.refreshing import Counted
from labtests.simlab.sonic.database import CELL_BYTES, POOL, Cabled, ConfigDb, Entry
from labtests.simlab.sonic.watermarks import SonicPeaks
from labtests.simlab.switch_cli import Chassis, CountingRules

_REFRESHED: dict[Counted, float] = {"traffic": 1, "pfc": 1, "drops": 1, "queues": 1}
_FLEX: dict[Counted, str] = {
    "traffic": "PORT",
    "pfc": "PORT",
    "queues": "QUEUE",
    "drops": "PG_DROP",
}
"""By which flex counter each is read from hardware."""
_MTU = 9100
_NO_CABLE = (25_000_000_000, 5.0)  # bit/s, metres
_RULES = CountingRules(growing={"RX_ERR": "crc_errors", "PG drops": "input_buffer_drops"})


class SonicChassis(Chassis):
    """The box below the shell."""

    def __init__(self, lab: SimulatedLab, device: Device) -> None:
        super().__init__(lab, device, _RULES, _REFRESHED)
        self.cabled = {each: self._cabled(each) for each in self.ports}
        self.db = ConfigDb(tuple(self.cabled.values()))
        self.db.load("installed")
        self.save()
        self.watermarks = SonicPeaks(self.network, self.db, lab.timeline)
        self.faults.on_reset.append(self.watermarks.shown.clear)
        self.apply_all()

    def _cabled(self, port: str) -> Cabled:
        link = self._link(port)
        bits_per_s, metres = (link.speed_bits_per_s, link.length_m) if link else _NO_CABLE
        cells = headroom_for(bits_per_s, metres, frame_bytes=_MTU + 18)
        return Cabled(port, bits_per_s // 10**6, round(metres), cells)

    def change(self, act: Callable[[], object]) -> None:
        """CONFIG_DB is changed, and what follows from it done."""
        if self.faults.lies:
            return
        before = {port: self._enabled(port) for port in self.ports}
        act()
        for port in self.ports:
            if (now := self._enabled(port)) != before[port]:
                self.db.enable_groups(self.cabled[port], now)
        self.apply_all()

    def write(self, table: str, entries: Mapping[str, Entry]) -> None:
        """These entries are so now; one without a field is none."""
        self.change(lambda: self.db.put(table, entries))

    def _enabled(self, port: str) -> str:
        return self.db.entry("PORT_QOS_MAP", port).get("pfc_enable", "")

    def apply_all(self) -> None:
        """All ports do what CONFIG_DB says. The network has one map from TC to queue for a switch:
        while ports differ, it stays as it was."""
        for port in self.ports:
            self.renew(port)
        maps = {self.db.map_of(p, "tc_to_queue_map", "TC_TO_QUEUE_MAP", 8) for p in self.ports}
        if len(maps) == 1:
            self.map_queues(maps.pop() or range(8))
        for kind, name in _FLEX.items():
            interval_s = self.db.poll_ms(name, 1000) / 1000
            if self.shown.usual.get(kind) != interval_s:
                self.shown.refresh_every(kind, interval_s)
        self._size_pool()
        self.watermarks.pace()

    def _size_pool(self) -> None:
        """It is what headroom and reserves leave of the memory."""
        if POOL in self.db.tables["BUFFER_POOL"]:
            size = self.network.memory_use().shared_cells * CELL_BYTES
            self.db.tables["BUFFER_POOL"][POOL]["size"] = str(size)

    def renew(self, port: str) -> None:
        """See Chassis. What orchagent can make nothing of leaves the port as it was."""
        try:
            wanted = self.db.behaviour(self.cabled[port])
        except (KeyError, ValueError):
            return
        self.apply(port, wanted)

    def save(self) -> None:
        """`config save -y`."""
        self._saved = deepcopy(self.db.tables)

    def load_saved(self) -> None:
        """See Chassis."""
        self.db.tables = self._saved
        self.db.acting.clear()
        self.save()
        self.apply_all()
