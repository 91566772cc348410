"""The command ``mqperf import``, which imports measurements of others."""

from pathlib import Path
from typing import Annotated

import typer

from mqperf.base.terminal import console, print_line
from mqperf.front.commands import Command


def import_(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH",
            help="RST of a report, or CSV; or the folder or file of a run of another tool",
        ),
    ],
    out: Annotated[Path, typer.Option(help="Folder of tables, e.g. data/published/2016.")],
    title: Annotated[str, typer.Option(help="Title of these tables in reports.")] = "",
    system: Annotated[
        str, typer.Option(help="System of the folders, e.g. qpid-dispatch; reports name it.")
    ] = "unknown",
    topology: Annotated[
        str, typer.Option(help="Topology of the folders, e.g. standalone.")
    ] = "unknown",
    queues: Annotated[str, typer.Option(help="Queues of the folders, e.g. routed.")] = "unknown",
    load: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE", help="What files do not state of the load: rate_msg_s=500."
        ),
    ] = None,
) -> None:
    """Read published reports, and runs of other tools, into tables.

    Runs are read by importers, which packages bring: mqperf-imported knows Maestro, OpenMessaging
    Benchmark, PerfTest and quiver.

    Examples: `mqperf import cmsm/index.rst cs1ss2-ha/index.rst --out data/published/mine`,
    `mqperf import quiver-run --system qpid-dispatch --out data/published/quiver`
    """
    from mqperf_imported.study import importing
    from mqperf_imported.study.measured import About, read_load

    about = About(system, topology, queues, read_load(load or ()))
    imported = importing.import_paths(paths, about)
    for file in importing.write(imported.tables, out, title, imported.latencies):
        print_line(console, str(file))


COMMAND = Command("import", import_)
