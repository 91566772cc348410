"""The command line of software roots: ``mqperf software``."""

from typing import Annotated

import typer

from mqperf.base.terminal import console, print_lines
from mqperf.front.commands import Command

FAULT = 2

app = typer.Typer(
    help="Versions of brokers beside the installed one, in folders of the cache.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Package = Annotated[str, typer.Argument(metavar="PACKAGE", help="Debian's, e.g. rabbitmq-server")]
Version = Annotated[str, typer.Argument(metavar="VERSION", help="e.g. 4.3, for any 4.3.x")]


@app.command("list")
def show() -> None:
    """Show the folders: package, version, release of Debian, size, when made, and where.

    Example: `mqperf software list`
    """
    from mqperf_software.hosts import debian

    for root in debian.roots():
        print_lines(
            console,
            f"{root.package} {root.version}  Debian {root.release}"
            f"  {root.size_bytes / 1e6:,.0f} MB  {root.made:%Y-%m-%d}  {root.folder}",
        )
    if not debian.roots():
        known = (
            f"{package} {version}"
            for package, versions in debian.RELEASES.items()
            for version in versions
        )
        print_lines(console, f"none; there can be: {', '.join(known)}")


@app.command()
def add(package: Package, version: Version) -> None:
    """Make the folder of a version, as root; a plan that asks for it makes it as well.

    Example: `mqperf software add rabbitmq-server 4.3`
    """
    from mqperf.hosts.local import LocalHost
    from mqperf_software.hosts import debian

    here = LocalHost()
    if debian.find(here, package, version) is None:
        print_lines(console, f"getting {package} {version}, which takes minutes")
    root = debian.find(here, package, version) or debian.make(here, package, version)
    print_lines(console, str(root.folder))


@app.command()
def remove(package: Package, version: Version) -> None:
    """Remove the folders of a version.

    Example: `mqperf software remove rabbitmq-server 4.3`
    """
    from mqperf_software.hosts import debian

    folders = [root for root in debian.roots() if debian.fits(root, package, version)]
    for root in folders:
        debian.remove(root)
        print_lines(console, f"removed {root.folder}")
    if not folders:
        print_lines(console, f"there is no {package} {version} to remove: mqperf software list")
        raise typer.Exit(FAULT)


COMMAND = Command("software", app)
