"""Encoding of histograms in the compressed form of version 2 of HdrHistogram, as base64.

With numpy and the standard library alone, since it runs in programs that count messages beside a
broker; hdrhistogram for Python would have to be compiled for every host.
"""

import base64
import struct
import zlib

import numpy as np

from mqperf.onhost.record.hdr import DIGITS, HIGHEST_NS, LOWEST_NS, Counts, Histogram

OUTER, HEADER = struct.Struct(">ii"), struct.Struct(">iiiiqqd")
"""Header before the compressed part: cookie, length; in it these, offset, digits, range, ratio."""

COMPRESSED, ENCODED = 0x1C849304 | 0x10, 0x1C849303 | 0x10

CONTINUED = 0x80
"""The bit of a byte that shows that its word continues."""


def encode(histogram: Histogram) -> str:
    """Encode a histogram in its compressed form."""
    content = _bytes(_words(histogram.counts))
    header = HEADER.pack(ENCODED, len(content), 0, DIGITS, LOWEST_NS, HIGHEST_NS, 1.0)
    packed = zlib.compress(header + content)
    return base64.b64encode(OUTER.pack(COMPRESSED, len(packed)) + packed).decode("ascii")


def _words(counts: Counts) -> Counts:
    """Return the counts up to the last non-zero one; a run of zeros is its negative length."""
    filled = np.flatnonzero(counts)
    gaps = np.diff(filled, prepend=-1) - 1
    interleaved = np.column_stack([-gaps, counts[filled]]).ravel()
    words: Counts = interleaved[interleaved != 0]
    return words


def _bytes(words: Counts) -> bytes:
    """Encode in LEB128 (seven bits to the byte, least first), the sign as lowest bit (zigzag)."""
    remaining = (words << 1) ^ (words >> 63)
    columns: list[Counts] = []
    while len(remaining) and (not columns or (remaining > 0).any()):
        columns.append(remaining & (CONTINUED - 1))
        remaining = remaining >> 7
    if not columns:
        return b""
    septets = np.stack(columns, axis=1)
    # a word ends with its last septet that is not 0
    ends = septets.shape[1] - 1 - (septets[:, ::-1] > 0).argmax(axis=1)[:, None]
    positions = np.arange(septets.shape[1])
    kept = positions <= ends
    coded = septets | np.where(positions < ends, CONTINUED, 0)
    return bytes(coded[kept].astype(np.uint8))
