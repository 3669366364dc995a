"""Versions of perftest that a host may have installed, and what differs between them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """What differs between versions of perftest."""

    version: str
    warns: bool  # " WARNING: BW peak won't be measured in this run."
    new_columns: bool  # Lock-free, Using DDP
    relaxed: str = "ON"
    wr_api: str = "ON"
    rate_blanks: int = 5  # before MsgRate
    passive_rows: bool = False  # servers of write and read print the client's result
    outstanding_reads: int = 16  # the adapter's: ConnectX-4 has 16, soft-RoCE 128


DOCUMENT_000 = Build(version="6.20", warns=True, new_columns=False)
"""Header of document 000 (ConnectX-4, OFED 5.x) with the row format and the warning of perftest
23/24; the number it gives as its version is from memory."""
