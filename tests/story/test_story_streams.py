"""S1 while the switch streams, held against the packet network's exact state."""

from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest
from story_lab import OUT, PFC_OFF, PFC_ON, ROOT, Bench, open_bench

from labtests.capabilities.records import PfcSetting
from labtests.capabilities.settings import HEADROOM, PFC
from labtests.experiment import Class
from labtests.lab.streaming import open_streams
from labtests.verdicts import headrooms, lossless

CELL_BYTES = 208
LABS = {
    "h3c-s6550-cx4": ("S6550", "Twenty-FiveGigE1/0/14", "Twenty-FiveGigE1/0/15"),
    "sonic-cx5": ("SN2700", "Ethernet4", "Ethernet8"),
}


@dataclass
class ExactState:
    """The most headroom that the packet network has had in use since `clear`, in bytes: looked at
    whenever somebody clears the chip's own peaks."""

    network: object
    most: dict[tuple[str, int], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._forget = self.network.forget_peaks
        self.network.forget_peaks = self._note

    def _note(self) -> None:
        self.look()
        self._forget()

    def look(self) -> None:
        for port in self.network.ports:
            for n, group in enumerate(self.network.group_counters(port)):
                size = CELL_BYTES * group.peak_headroom_cells
                self.most[port, n] = max(self.most.get((port, n), 0), size)


def file_of(name):
    return ROOT / "testbeds" / "streams" / f"{name}.yaml"


@contextmanager
def streaming(folder, name, file=None):
    with open_bench(folder, file=file or file_of(name)) as bench:
        epoch_s = float(getattr(bench.lab.clock, "epoch_s", 0.0))
        with bench.lab.restoring():
            open_streams(bench.lab, print, epoch_s=epoch_s)
            try:
                yield bench
            finally:
                bench.lab.streams.close()


def s1(bench: Bench, *, headroom_cells: int | None = None, hosts_obey: bool = True):
    """The heart of it: its control and its experiment."""
    incast = bench.incast(lab_seconds=3)
    early, late = Class(tos=0x60, offered_share=0.78), Class(tos=0xA0, offered_share=0.515)
    traffic = incast.udp(early, late)
    incast.trust_dscp()
    for sender in incast.senders if headroom_cells is not None else ():
        incast.set(sender.switch, HEADROOM, ((3, headroom_cells), (5, headroom_cells)))
    for priority, sender in zip((3, 5), incast.senders if hosts_obey else (), strict=False):
        incast.set(sender.nic, PFC, PfcSetting(mode="on", priorities=frozenset({priority})))
    incast.pfc_at_switch(PFC_OFF)
    incast.run("PFC off", traffic)
    incast.pfc_at_switch(PFC_ON)
    incast.run("PFC on", traffic)
    return incast


@pytest.mark.parametrize("name", sorted(LABS))
def test_the_margin_to_the_headrooms_end_is_that_of_the_exact_state(name, tmp_path):
    switch, *ports = LABS[name]
    with streaming(tmp_path, name) as bench:
        network = bench.simulated.lab.network.switch(switch)
        exact = ExactState(network)
        cells = 98 if name.startswith("h3c") else None
        control, seen = (p.evidence for p in s1(bench, headroom_cells=cells).phases)
        exact.look()
    left = {(each.port, each.priority): each for each in headrooms(seen)}
    assert set(left) == {(ports[0], 3), (ports[1], 5)}
    for place, each in left.items():
        assert each.peak_bytes == exact.most[place] > 0
        assert each.is_bound == ""
        assert each.margin_bytes == each.room_bytes - exact.most[place] > 0
    verdict = lossless(seen, {3, 5}, controls=(control,))
    margins = {f.name: f.margin for f in verdict.facts if "headroom in use" in f.name}
    assert verdict.outcome == "pass"
    assert list(margins.values()) == [each.margin_bytes for each in left.values()]


def dialled_in(folder):
    """The same lab, whose switch is asked by gNMI."""
    file = folder / "dial-in.yaml"
    plain = file_of("h3c-s6550-cx4").read_text().replace("kind: dial-out", "kind: gnmi")
    file.write_text(plain.replace("address: 192.0.2.9", "#"))
    return file


@pytest.mark.parametrize("kind", ["dial-out", "gnmi"])
def test_what_the_switch_pushes_is_an_event_of_its_phase(kind, tmp_path):
    """Drops, in the control; hosts that do not obey pauses use up the headroom in the experiment:
    the switch says so of both, at its time."""
    switch, *ports = LABS["h3c-s6550-cx4"]
    file = dialled_in(tmp_path) if kind == "gnmi" else None
    with streaming(tmp_path, "h3c-s6550-cx4", file) as bench:
        ran = s1(bench, headroom_cells=98, hosts_obey=False)
    phases = [phase.evidence for phase in ran.phases]
    told = [
        {(a.kind, a.text, a.port, a.index) for a in seen.streamed.alarms if a.device == switch}
        for seen in phases
    ]
    places = tuple(zip(ports, (3, 5), strict=True))
    over = {("use over its limit", "headroom", *place) for place in places}
    assert {("drops", "egress", OUT, n) for n in (3, 5)} <= told[0]
    assert not over & told[0]
    assert over <= told[1]
    assert {("drops", "headroom", *place) for place in places} & told[1]
    for seen in phases:
        assert all(seen.start_s < a.time_s < seen.end_s + 2 for a in seen.streamed.alarms)
    assert all(0 <= each.margin_bytes < 1522 for each in headrooms(phases[1]))  # below a frame


def test_the_sawtooth_between_xoff_and_xon_is_noted_beside_the_evidence(tmp_path):
    switch, *ports = LABS["sonic-cx5"]
    with streaming(tmp_path, "sonic-cx5") as bench:
        bench.lab.exact = bench.simulated
        phases = s1(bench).phases
    off, on = (dict.fromkeys((r["port"], r["paused"]) for r in p.exact) for p in phases)
    assert set(off) == {(port, 0) for port in ports}
    assert set(on) == {(port, paused) for port in ports for paused in (0, 1)}
    for row in phases[1].exact:
        seen = phases[1].evidence
        assert (row["device"], row["source"]) == (switch, "from the simulation's exact state")
        assert seen.start_s < row["time_s"] < seen.end_s
        assert 0 < row["shared_bytes"] < 5_000_000


@pytest.mark.parametrize(("said", "told"), [("true", True), ("false", False)])
def test_a_switch_without_alarms_of_drops_streams_all_the_same(said, told, tmp_path):
    file = tmp_path / "lab.yaml"
    plain = file_of("h3c-s6550-cx4").read_text()
    file.write_text(plain.replace("kind: dial-out", f"kind: dial-out\n      drop_alarms: {said}"))
    with streaming(tmp_path, "h3c-s6550-cx4", file) as bench:
        bench.lab.clock.sleep(2)
        bench.lab.streams.mark(bench.lab.clock.now_s())
        assert bench.lab.streams.received["S6550"] > 100
        configured = bench.settings()["S6550 display current-configuration"]
        assert ("buffer packet-drop alarm enable" in configured) is told


def test_what_a_switch_is_told_for_gnmi_is_put_back(tmp_path):
    shown = "S6550 display current-configuration"
    with open_bench(tmp_path, file=dialled_in(tmp_path)) as bench:
        with bench.lab.restoring():
            open_streams(bench.lab, print)
            told = bench.settings()[shown].splitlines()
            bench.lab.streams.close()
        left = bench.settings()[shown].splitlines()
    assert {" grpc enable", "telemetry"} & set(map(str.rstrip, told)) == {" grpc enable"}
    assert not any("grpc" in line or "packet-drop" in line for line in left)
