"""What the kernel knows of its own clock; with the standard library alone."""

import ctypes
import struct

UNSYNCHRONISED = 0x40
"""STA_UNSYNC of linux/timex.h: nobody disciplines the clock."""

SIZE = 208
"""Bytes of struct timex where a long has 8: the only such machines that we read it on."""


def kernel_clock() -> dict[str, bool | float] | None:
    """Whether the clock is disciplined, and how far off the kernel holds it; None if unknown.

    ``synchronised`` as the kernel has it, ``max_error_s`` and ``estimated_error_s`` as the daemon
    that disciplines the clock told it, ``frequency_ppm`` by which the clock is corrected.  It never
    replaces a measurement: a daemon may be wrong, or dead.
    """
    if ctypes.sizeof(ctypes.c_long) != 8:
        return None
    answer = ctypes.create_string_buffer(SIZE)
    try:
        state = ctypes.CDLL(None, use_errno=True).adjtimex(answer)
    except AttributeError:
        return None
    if state < 0:
        return None
    frequency, most, likely, status = struct.unpack_from("=qqqi", answer, 16)
    return {
        "synchronised": not status & UNSYNCHRONISED,
        "max_error_s": most / 1e6,
        "estimated_error_s": likely / 1e6,
        "frequency_ppm": frequency / 65536,
    }
