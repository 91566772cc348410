"""Histograms in the compressed form of version 2 of HdrHistogram, as base64: how they are written.

With numpy and the standard library alone, since programs that count messages beside a broker write
them; hdrhistogram for Python would be compiled for every host.
"""

import base64
import struct
import zlib

import numpy as np

from mqperf.onhost.record.hdr import DIGITS, HIGHEST_NS, LOWEST_NS, Counts, Histogram

OUTER, HEADER = struct.Struct(">ii"), struct.Struct(">iiiiqqd")
"""Before what is compressed: cookie, length.  In it: the same, offset, digits, range and ratio."""

COMPRESSED, ENCODED = 0x1C849304 | 0x10, 0x1C849303 | 0x10

CONTINUED = 0x80
"""The bit of a byte after which its word goes on."""


def encode(histogram: Histogram) -> str:
    """The histogram in its compressed form."""
    content = _bytes(_words(histogram.counts))
    header = HEADER.pack(ENCODED, len(content), 0, DIGITS, LOWEST_NS, HIGHEST_NS, 1.0)
    packed = zlib.compress(header + content)
    return base64.b64encode(OUTER.pack(COMPRESSED, len(packed)) + packed).decode("ascii")


def _words(counts: Counts) -> Counts:
    """The counts up to the last that is not 0; a run of zeros is one word, its length negative."""
    filled = np.flatnonzero(counts)
    gaps = np.diff(filled, prepend=-1) - 1
    both = np.column_stack([-gaps, counts[filled]]).ravel()
    words: Counts = both[both != 0]
    return words


def _bytes(words: Counts) -> bytes:
    """Seven bits to the byte, least first (LEB128), the sign as the lowest bit (zigzag)."""
    left = (words << 1) ^ (words >> 63)
    parts: list[Counts] = []
    while len(left) and (not parts or (left > 0).any()):
        parts.append(left & (CONTINUED - 1))
        left = left >> 7
    if not parts:
        return b""
    septets = np.stack(parts, axis=1)
    # the last septet of a word that is not 0 ends it
    ends = septets.shape[1] - 1 - (septets[:, ::-1] > 0).argmax(axis=1)[:, None]
    places = np.arange(septets.shape[1])
    kept = places <= ends
    coded = septets | np.where(places < ends, CONTINUED, 0)
    return bytes(coded[kept].astype(np.uint8))
