"""A host on which a stranger takes a port that was free a moment ago."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from typing_extensions import override

from mqperf.hosts import LocalHost


class CrowdedHost(LocalHost):
    """Of the first block of ports, one is taken; ``blocks`` are all that were given out."""

    def __init__(self, taken: int) -> None:
        self.taken = taken
        self.blocks: list[tuple[int, ...]] = []

    @override
    @contextmanager
    def ports(self, count: int, first: int | None = None) -> Iterator[tuple[int, ...]]:
        with super().ports(count, first) as block, ExitStack() as strangers:
            if not self.blocks:
                address = "127.0.0.1", block[self.taken]
                strangers.enter_context(socket.create_server(address))
            self.blocks.append(block)
            yield block
