"""The command line of a laboratory: ``mqperf laboratory``."""

import sys
from typing import Annotated

import typer

from mqperf.base.terminal import console, print_line
from mqperf.front.commands import Command


def laboratory(
    count: Annotated[int, typer.Option(help="How many hosts; the first three are brokers.")] = 5,
) -> None:
    """Create hosts in network namespaces of this machine, for tests with several hosts; as root.

    Each has its own address, sshd, processes and network. Prints the path of their inventory, and
    ends them all when you press Enter.

    Example: `mqperf laboratory --count 5`
    """
    from mqperf_laboratory.hosts import laboratory as made

    with made(count) as created:
        print_line(console, str(created.inventory))
        print_line(console, f"{', '.join(created.names)} run until you press Enter")
        sys.stdout.flush()
        sys.stdin.readline()


COMMAND = Command("laboratory", laboratory)
