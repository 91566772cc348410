"""Free ports, reserved against every other mqperf on the machine."""

import random
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from mqperf.onhost.errors import HostError

FIRST, LAST, BLOCK = 20_000, 32_000, 50
"""Blocks of ports, below the range from which Linux takes ports for outgoing connections."""

LOOPBACK, EVERY = "127.0.0.1", "0.0.0.0"  # noqa: S104 (only tested, nothing listens there)


@contextmanager
def reserved(
    count: int, address: str = LOOPBACK, first: int | None = None
) -> Iterator[tuple[int, ...]]:
    """Reserve ``count`` consecutive TCP ports which are free on this address of the host now.

    With ``first`` only the block that begins there is tried: another host has reserved the same.

    A block is reserved by a name in the abstract socket namespace, which has the same scope as the
    ports (all users of this network namespace), leaves no file, and is released by the kernel when
    this process dies.  Programs other than mqperf ignore it: a caller whose server finds its port
    taken in the meantime tries once more with another block.

    Raises ``HostError`` when no block is free, or not that one.
    """
    if not 1 <= count <= BLOCK:
        raise HostError(f"a block has 1 to {BLOCK} ports, not {count}")
    starts = list(range(FIRST, LAST, BLOCK)) if first is None else [first]
    random.shuffle(starts)
    with ExitStack() as stack:
        for start in starts:
            block = tuple(range(start, start + count))
            claim = _claimed(start)
            if claim is not None:
                stack.enter_context(claim)
                if all(is_free(port, address) for port in block):
                    yield block
                    return
                stack.close()
    where = f"between {FIRST} and {LAST}" if first is None else f"from {first} on"
    raise HostError(f"no {count} consecutive free ports {where} on {address}")


def _claimed(start: int) -> socket.socket | None:
    claim = socket.socket(socket.AF_UNIX)
    try:
        claim.bind(f"\0mqperf-ports-{start}")
    except OSError:
        claim.close()
        return None
    return claim


def is_free(port: int, address: str = LOOPBACK) -> bool:
    """Whether a server could listen on this port."""
    with socket.socket() as probe:
        # As servers do: connections of the past (TIME_WAIT) are no obstacle, a listener is.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError:
            return False
    return True
