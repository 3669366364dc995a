"""gzip, for files that may be anybody's: no more is held in memory than is looked at, every member
is read, and one that was cut off is not taken for a whole one."""

import gzip
import zlib
from collections.abc import Iterator

_LEVEL = 6
_CHUNK = 1 << 20
_GZIP = zlib.MAX_WBITS | 16


class Damaged(ValueError):
    """What was packed is not whole, or no gzip; the text says which."""


class TooMuch(Damaged):
    """A few bytes claim to hold more than such a file may have."""


def packed(content: bytes) -> bytes:
    """As a file keeps it; the same content gives the same bytes."""
    return gzip.compress(content, compresslevel=_LEVEL, mtime=0)


def unpacked(content: bytes, most_bytes: int) -> Iterator[bytes]:
    """What it holds, in chunks; what stands before a damage comes before it is told. Zeros behind
    the last member are padding. Raises Damaged, TooMuch."""
    left, told = content, 0
    while left:
        reader = zlib.decompressobj(wbits=_GZIP)
        while not reader.eof:
            try:
                chunk = reader.decompress(left, _CHUNK)
            except zlib.error as error:
                raise Damaged(f"it is not gzip: {error}") from error
            left = reader.unconsumed_tail
            told += len(chunk)
            if told > most_bytes:
                raise TooMuch(f"it unpacks to more than {most_bytes} bytes")
            if chunk:
                yield chunk
            elif not reader.eof and not left:
                raise Damaged("it is cut off: its end is missing")
        left = reader.unused_data.lstrip(b"\0")
