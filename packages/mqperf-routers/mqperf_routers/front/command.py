"""The command line of networks as files: ``mqperf topology``."""

from pathlib import Path
from typing import Annotated

import typer

from mqperf.base.terminal import console, print_line
from mqperf.front.commands import Command


def topology(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="a plan, a description of a network, or a graph")
    ],
    out: Annotated[Path | None, typer.Option(help="Folder for the output, e.g. network.")] = None,
    check: Annotated[
        bool,
        typer.Option("--check", help="Check that the running routers are connected like this."),
    ] = False,
) -> None:
    """Write the files of a network of AMQP routers: configurations, a picture, an Ansible playbook.

    For a plan, it writes those of its topologies that are such networks. Invalid networks are
    rejected: not connected, with unknown names, or with two nodes at one port. After deployment,
    `--check` shows for every router whether it reaches every other one by the shortest path; exit
    code 2 means that one does not.

    Examples: `mqperf topology plans/router.yaml --out network`, `mqperf topology net.yaml --check`
    """
    from mqperf_routers.front import checking, reading, writing

    networks = reading.read(file)
    if out is None and not check:
        raise typer.BadParameter("give --out FOLDER, --check, or both")
    for path in writing.write(networks, out) if out is not None else ():
        print_line(console, str(path))
    if check:
        from mqperf.front.findings import tell

        tell(checking.check(networks))


COMMAND = Command("topology", topology)
