"""The hash by which clients of streams choose a partition: MurmurHash3, x86, 32 bits.

Its constants are those of Austin Appleby's ``MurmurHash3.cpp``, the seed is that of RabbitMQ's
clients for Java, Go, .NET and Rust.
"""

import struct

SEED = 104_729
BITS = 0xFFFFFFFF


def murmur3(content: bytes, seed: int = SEED) -> int:
    """Return the hash as an unsigned number."""
    whole = len(content) // 4 * 4
    state = seed
    for (word,) in struct.iter_unpack("<I", content[:whole]):
        state = (_rotated(state ^ _mixed(word), 13) * 5 + 0xE6546B64) & BITS
    state ^= _mixed(int.from_bytes(content[whole:], "little")) ^ len(content)
    state = ((state ^ state >> 16) * 0x85EBCA6B) & BITS
    state = ((state ^ state >> 13) * 0xC2B2AE35) & BITS
    return state ^ state >> 16


def _mixed(word: int) -> int:
    return _rotated(word * 0xCC9E2D51 & BITS, 15) * 0x1B873593 & BITS


def _rotated(word: int, bits: int) -> int:
    return (word << bits | word >> 32 - bits) & BITS
