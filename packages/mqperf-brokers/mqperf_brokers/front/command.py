"""The command ``mqperf brokers``."""

from pathlib import Path
from typing import Annotated

import typer

from mqperf.base.terminal import console, print_line
from mqperf.front.commands import Command


def brokers(
    bundles: Annotated[
        list[Path],
        typer.Argument(metavar="BUNDLE...", help="files of mqperf bundle, or folders of them"),
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder of the site.")],
    again: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="BUNDLE", help="What was measured again on another day: one file, or a folder."
        ),
    ] = None,
    title: Annotated[str, typer.Option(help="The title of the page.")] = "Message brokers compared",
) -> None:
    """Compare what systems sustain, from bundles, on one page: every cell links to its bundle.

    Each bundle is checked first, as by mqperf verify. One that fails is left out, with the reason
    on the page, and the exit code is 2.

    Examples: `mqperf brokers bundles --out reports/brokers`,
    `mqperf brokers first.tar.xz --again second.tar.xz --out reports/brokers`
    """
    from mqperf_brokers.front.site import write_site

    for line in write_site(out, bundles, again or [], title):
        print_line(console, line)


COMMAND = Command("brokers", brokers)
