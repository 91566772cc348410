"""The kernel's state of its own clock; with the standard library alone."""

import ctypes
import struct

UNSYNCHRONISED = 0x40
"""STA_UNSYNC of linux/timex.h: nothing disciplines the clock."""

SIZE = 208
"""Bytes of struct timex where a long has 8 bytes; it is not read on other machines."""


def kernel_clock() -> dict[str, bool | float] | None:
    """Return whether the clock is disciplined, and its estimated errors; None if unknown.

    ``max_error_s`` and ``estimated_error_s`` are those that the time daemon told the kernel,
    ``frequency_ppm`` is the correction of the clock.  This never replaces a measurement: a daemon
    may be wrong, or dead.
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
    frequency, max_error, estimated_error, status = struct.unpack_from("=qqqi", answer, 16)
    return {
        "synchronised": not status & UNSYNCHRONISED,
        "max_error_s": max_error / 1e6,
        "estimated_error_s": estimated_error / 1e6,
        "frequency_ppm": frequency / 65536,
    }
