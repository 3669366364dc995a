"""What can be set and read of a port's pauses: timing, counters."""

from dataclasses import dataclass
from typing import NamedTuple

from labtests.core.headroom import QUANTUM_BITS, RESPONSE_QUANTA
from labtests.network.tables import LONGEST_QUANTA

GIGABIT = 1_000_000_000


def longest_response_ns(rate_bits_per_s: int) -> float:
    """The longest response to a pause that IEEE 802.1Qbb (Annex O) allows at this rate, in ns."""
    quanta = RESPONSE_QUANTA.get(rate_bits_per_s // GIGABIT)
    if quanta is None:
        rates = ", ".join(f"{rate}G" for rate in RESPONSE_QUANTA)
        raise ValueError(
            f"no standard response time at {rate_bits_per_s} bit/s: known at {rates}; give it in ns"
        )
    return quanta * QUANTUM_BITS / rate_bits_per_s * 1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseTiming:
    """How a port pauses and obeys.

    - `quanta` of 512 bit times in each xoff: 65535 is what switches and NICs send.
    - `refresh_share`: a pause that lasts is sent again after this share of its time (0.5); None:
      never, so it ends with its quanta.
    - `response_ns`: from the arrival of a pause, or an xon, until it takes effect; the frame then
      in progress is finished. 0 unless given; what the standard allows: longest_response_ns().
    """

    quanta: int = LONGEST_QUANTA
    refresh_share: float | None = 0.5
    response_ns: float = 0.0

    def __post_init__(self) -> None:
        if not 1 <= self.quanta <= LONGEST_QUANTA:
            raise ValueError(f"pause quanta {self.quanta} is not 1..{LONGEST_QUANTA}")
        if self.refresh_share is not None and not 0 < self.refresh_share <= 1:
            raise ValueError(f"refresh share {self.refresh_share} is not above 0 and up to 1")
        if not 0 <= self.response_ns <= 1e11:
            raise ValueError(f"response {self.response_ns} ns is not 0..1e11")


class PauseCounters(NamedTuple):
    """Pause frames of a port, PFC and 802.3x together: frames, not priorities."""

    rx_frames: int = 0
    tx_frames: int = 0


class LinkPauseCounters(NamedTuple):
    """802.3x frames of a port; in ps how long received ones held it, and sent ones were in force.

    `transitions`: how often a received pause has ended.
    """

    rx_frames: int = 0
    tx_frames: int = 0
    rx_paused_ps: int = 0
    tx_paused_ps: int = 0
    transitions: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkPause:
    """802.3x on a port: every priority stops. It excludes PFC on the same port.

    - `send`: a switch stops its peer when one of the port's groups is at its threshold (all eight
      are lossless then) or when all of them hold `xoff_bytes`, headroom included; it lets the peer
      go on at `xon_bytes` (half of it unless given). A NIC stops its peer as its ReceiveBuffer
      says.
    - `obey`: received pauses hold the port.
    """

    send: bool = True
    obey: bool = True
    xoff_bytes: int | None = None
    xon_bytes: int | None = None

    def __post_init__(self) -> None:
        check_thresholds(self.xoff_bytes, self.xon_bytes)


RECEIVE_BUFFER_BYTES = 131_008
"""Half of a ConnectX-4's `max_buffer_size` (mlnx_qos): one for lossy, one for lossless traffic."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiveBuffer:
    """How fast a host takes packets from its NIC, and what the NIC holds meanwhile.

    - `bits_per_s` of frames with FCS; 0: nothing; None: as fast as they come, nothing waits.
    - `buffer_bytes` of each priority; frames beyond are dropped (`rx_discards`).
    - `xoff_bytes`: a priority with PFC, or the whole port with 802.3x, is stopped at so much (half
      of the buffer unless given), and goes on at `xon_bytes` (half of that).
    """

    bits_per_s: int | None = None
    buffer_bytes: int = RECEIVE_BUFFER_BYTES
    xoff_bytes: int | None = None
    xon_bytes: int | None = None

    def __post_init__(self) -> None:
        if self.bits_per_s is not None and not 0 <= self.bits_per_s <= 10**13:
            raise ValueError(f"host rate {self.bits_per_s} bit/s is not 0..1e13")
        if not 1 <= self.buffer_bytes <= 2**40:
            raise ValueError(f"receive buffer {self.buffer_bytes} bytes is not 1..2**40")
        check_thresholds(self.xoff, self.xon)
        if self.xoff > self.buffer_bytes:
            raise ValueError(f"xoff {self.xoff} bytes is more than the receive buffer")

    @property
    def xoff(self) -> int:
        """Bytes at which a priority is stopped."""
        return self.buffer_bytes // 2 if self.xoff_bytes is None else self.xoff_bytes

    @property
    def xon(self) -> int:
        """Bytes at which a priority goes on."""
        return self.xoff // 2 if self.xon_bytes is None else self.xon_bytes


def check_thresholds(xoff_bytes: int | None, xon_bytes: int | None) -> None:
    """ValueError when a port could never stop its peer, or never let it go on."""
    if xoff_bytes is not None and xoff_bytes < 1:
        raise ValueError(f"xoff {xoff_bytes} bytes is not at least 1")
    if xon_bytes is not None and xoff_bytes is None:
        raise ValueError("xon bytes without xoff bytes")
    if xon_bytes is not None and xoff_bytes is not None and not 0 <= xon_bytes < xoff_bytes:
        raise ValueError(f"xon {xon_bytes} bytes is not 0.. below xoff {xoff_bytes}")
