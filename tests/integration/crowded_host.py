"""A host on which another program takes a port that has just been found free."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from typing_extensions import override

from mqperf.hosts import LocalHost


class CrowdedHost(LocalHost):
    """One port of the first block is taken; ``blocks`` lists all blocks that were assigned."""

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
