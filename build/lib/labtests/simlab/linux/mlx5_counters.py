"""`ethtool -S` of an mlx5 port: names in the driver's order, values from the network.

Order: a recording of mlx5_core (isc-projects/ethq, tests/mlx5_core), and for what that driver of
2018 did not have yet (`rx_prioN_discards`, `tx_pause_storm_*`) the kernel's groups per_prio and
pfc. Pause lines of a priority exist only while PFC is on for it; those of the whole port only while
it is on for none (Linux Documentation, mlx5 counters).
"""

from collections.abc import Callable, Iterator, Mapping

from labtests.network import NicCounters
from labtests.simlab.linux.ports import NicPort

CHANNELS = 16


def words(text: str) -> tuple[str, ...]:
    """Names with blanks between them."""
    return tuple(text.split())


SOFTWARE = words(
    """rx_packets rx_bytes tx_packets tx_bytes tx_tso_packets tx_tso_bytes
tx_tso_inner_packets tx_tso_inner_bytes tx_added_vlan_packets rx_lro_packets rx_lro_bytes
rx_removed_vlan_packets rx_csum_unnecessary rx_csum_none rx_csum_complete rx_csum_unnecessary_inner
rx_xdp_drop rx_xdp_tx rx_xdp_tx_full tx_csum_none tx_csum_partial tx_csum_partial_inner
tx_queue_stopped tx_queue_wake tx_queue_dropped tx_xmit_more rx_wqe_err rx_mpwqe_filler
rx_buff_alloc_err rx_cqe_compress_blks rx_cqe_compress_pkts rx_page_reuse rx_cache_reuse
rx_cache_full rx_cache_empty rx_cache_busy rx_cache_waive link_down_events_phy rx_out_of_buffer
rx_vport_unicast_packets rx_vport_unicast_bytes tx_vport_unicast_packets tx_vport_unicast_bytes
rx_vport_multicast_packets rx_vport_multicast_bytes tx_vport_multicast_packets
tx_vport_multicast_bytes rx_vport_broadcast_packets rx_vport_broadcast_bytes
tx_vport_broadcast_packets tx_vport_broadcast_bytes rx_vport_rdma_unicast_packets
rx_vport_rdma_unicast_bytes tx_vport_rdma_unicast_packets tx_vport_rdma_unicast_bytes
rx_vport_rdma_multicast_packets rx_vport_rdma_multicast_bytes tx_vport_rdma_multicast_packets
tx_vport_rdma_multicast_bytes tx_packets_phy rx_packets_phy rx_crc_errors_phy tx_bytes_phy
rx_bytes_phy tx_multicast_phy tx_broadcast_phy rx_multicast_phy rx_broadcast_phy
rx_in_range_len_errors_phy rx_out_of_range_len_phy rx_oversize_pkts_phy rx_symbol_err_phy
tx_mac_control_phy rx_mac_control_phy rx_unsupported_op_phy rx_pause_ctrl_phy tx_pause_ctrl_phy
rx_discards_phy tx_discards_phy tx_errors_phy rx_undersize_pkts_phy rx_fragments_phy rx_jabbers_phy
rx_64_bytes_phy rx_65_to_127_bytes_phy rx_128_to_255_bytes_phy rx_256_to_511_bytes_phy
rx_512_to_1023_bytes_phy rx_1024_to_1518_bytes_phy rx_1519_to_2047_bytes_phy
rx_2048_to_4095_bytes_phy rx_4096_to_8191_bytes_phy rx_8192_to_10239_bytes_phy rx_pcs_symbol_err_phy
rx_corrected_bits_phy rx_buffer_passed_thres_phy rx_pci_signal_integrity tx_pci_signal_integrity
outbound_pci_stalled_rd outbound_pci_stalled_wr outbound_pci_stalled_rd_events
outbound_pci_stalled_wr_events"""
)
MODULE = ("module_unplug", "module_bus_stuck", "module_high_temp", "module_bad_shorted")
RX_CHANNEL = words(
    """packets bytes csum_complete csum_unnecessary csum_unnecessary_inner csum_none
xdp_drop xdp_tx xdp_tx_full lro_packets lro_bytes removed_vlan_packets wqe_err mpwqe_filler
buff_alloc_err cqe_compress_blks cqe_compress_pkts page_reuse cache_reuse cache_full cache_empty
cache_busy cache_waive"""
)
TX_CHANNEL = words(
    """packets bytes tso_packets tso_bytes tso_inner_packets tso_inner_bytes csum_partial
csum_partial_inner added_vlan_packets nop csum_none stopped wake dropped xmit_more"""
)

_Value = Callable[[NicCounters], int]
_FCS_BYTES = 4


def _frames(wire_bytes: tuple[int, ...], packets: tuple[int, ...]) -> int:
    """Bytes of frames without their FCS, as a vport counts them."""
    return sum(wire_bytes) - _FCS_BYTES * sum(packets)


_PORT: Mapping[str, _Value] = {  # a vport counts RDMA apart (the kernel's mlx5 counters.rst)
    "rx_packets": lambda c: c.ip_in_receives,
    "rx_bytes": lambda c: c.ip_in_bytes,
    "tx_packets": lambda c: c.ip_out_packets,
    "tx_bytes": lambda c: c.ip_out_bytes,
    "rx_vport_rdma_unicast_packets": lambda c: sum(c.rx_packets) - c.ip_in_receives,
    "rx_vport_rdma_unicast_bytes": lambda c: _frames(c.rx_bytes, c.rx_packets) - c.ip_in_bytes,
    "tx_vport_rdma_unicast_packets": lambda c: sum(c.tx_packets) - c.ip_out_packets,
    "tx_vport_rdma_unicast_bytes": lambda c: _frames(c.tx_bytes, c.tx_packets) - c.ip_out_bytes,
    "rx_vport_unicast_packets": lambda c: c.ip_in_receives,
    "rx_vport_unicast_bytes": lambda c: c.ip_in_bytes,
    "tx_vport_unicast_packets": lambda c: c.ip_out_packets,
    "tx_vport_unicast_bytes": lambda c: c.ip_out_bytes,
    "rx0_packets": lambda c: c.ip_in_receives,
    "rx0_bytes": lambda c: c.ip_in_bytes,
    "tx0_packets": lambda c: c.ip_out_packets,
    "tx0_bytes": lambda c: c.ip_out_bytes,
    "rx_packets_phy": lambda c: sum(c.rx_packets),
    "tx_packets_phy": lambda c: sum(c.tx_packets),
    "rx_bytes_phy": lambda c: sum(c.rx_bytes),
    "tx_bytes_phy": lambda c: sum(c.tx_bytes),
    "rx_mac_control_phy": lambda c: c.pause_rx_frames,
    "tx_mac_control_phy": lambda c: c.pause_tx_frames,
    "rx_pause_ctrl_phy": lambda c: c.pause_rx_frames,
    "tx_pause_ctrl_phy": lambda c: c.pause_tx_frames,
    "rx_crc_errors_phy": lambda c: c.rx_crc_errors,
    "rx_discards_phy": lambda c: sum(c.rx_discards),
    "rx_global_pause": lambda c: c.link_pause_rx_frames,
    "rx_global_pause_duration": lambda c: c.link_rx_pause_us,
    "tx_global_pause": lambda c: c.link_pause_tx_frames,
    "tx_global_pause_duration": lambda c: c.link_tx_pause_us,
    "rx_global_pause_transition": lambda c: c.link_rx_transitions,
}
_PRIORITY: Mapping[str, Callable[[NicCounters], tuple[int, ...]]] = {
    "rx_prio{}_bytes": lambda c: c.rx_bytes,
    "rx_prio{}_packets": lambda c: c.rx_packets,
    "rx_prio{}_discards": lambda c: c.rx_discards,
    "tx_prio{}_bytes": lambda c: c.tx_bytes,
    "tx_prio{}_packets": lambda c: c.tx_packets,
}
_PAUSE: Mapping[str, Callable[[NicCounters], tuple[int, ...]]] = {
    "rx_prio{}_pause": lambda c: c.pfc_rx_frames,
    "rx_prio{}_pause_duration": lambda c: c.pfc_rx_pause_us,
    "tx_prio{}_pause": lambda c: c.pfc_tx_frames,
    "tx_prio{}_pause_duration": lambda c: c.pfc_tx_pause_us,
    "rx_prio{}_pause_transition": lambda c: c.pfc_rx_transitions,
}
GLOBAL_PAUSE = tuple(name for name in _PORT if "global_pause" in name)
STORM = ("tx_pause_storm_warning_events", "tx_pause_storm_error_events")


def names(pfc: frozenset[int]) -> Iterator[str]:
    """The counters that are there while PFC is on for these priorities."""
    yield from SOFTWARE
    yield from (form.format(priority) for priority in range(8) for form in _PRIORITY)
    yield from (form.format(priority) for priority in sorted(pfc) for form in _PAUSE)
    if not pfc:
        yield from GLOBAL_PAUSE
    yield from STORM
    yield from MODULE
    for direction, fields in (("rx", RX_CHANNEL), ("tx", TX_CHANNEL)):
        for channel in range(CHANNELS):
            yield from (f"{direction}{channel}_{field}" for field in fields)


def statistics(port: NicPort) -> str:
    """All of `ethtool -S`."""
    counters = port.counters()
    pfc = port.nic.pfc if port.nic is not None else frozenset()
    values = _values(counters) if counters is not None else {}
    broken = port.faults.defects.broken_frames(port.interface, port.now_ns())
    values["rx_crc_errors_phy"] = values.get("rx_crc_errors_phy", 0) + broken
    lines = ["NIC statistics:"]
    for name in names(pfc):
        if not port.missing(name):
            shown = port.reading(name, lambda name=name: values.get(name, 0))  # type: ignore[misc]
            lines.append(f"     {name}: {shown}")
    return "".join(line + "\n" for line in lines)


def _values(counters: NicCounters) -> dict[str, int]:
    found = {name: value(counters) for name, value in _PORT.items()}
    for form, eight in (*_PRIORITY.items(), *_PAUSE.items()):
        for priority, value in enumerate(eight(counters)):
            found[form.format(priority)] = value
    return found
