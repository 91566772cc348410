"""The command line of software roots: ``mqperf software``."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mqperf.base.terminal import console, print_lines
from mqperf.front.commands import Command

if TYPE_CHECKING:
    from mqperf.hosts import Host

FAULT = 2

app = typer.Typer(
    help="Versions of brokers beside the installed one, in folders of the cache.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Package = Annotated[str, typer.Argument(metavar="PACKAGE", help="of Debian, e.g. rabbitmq-server")]
Version = Annotated[str, typer.Argument(metavar="VERSION", help="e.g. 4.3, for any 4.3.x")]
Inventory = Annotated[
    Path | None, typer.Option(metavar="FILE", help="An inventory: act on its hosts of brokers.")
]


@app.command("list")
def show(inventory: Inventory = None) -> None:
    """Show the folders: package, version, release of Debian, size, when made, and where.

    Examples: `mqperf software list`, `mqperf software list --inventory hosts.yaml`
    """
    from mqperf_software.hosts import debian

    with _brokers(inventory) as hosts:
        found = [(host, root) for host in hosts for root in debian.roots(host)]
        for host, root in found:
            print_lines(
                console,
                f"{root.package} {root.version}  Debian {root.release}"
                f"  {debian.size_bytes(host, root) / 1e6:,.0f} MB  {root.made:%Y-%m-%d}"
                f"  {_of(host)}{root.folder}",
            )
    if not found:
        known = (
            f"{package} {version}"
            for package, versions in debian.RELEASES.items()
            for version in versions
        )
        print_lines(console, f"none; supported: {', '.join(known)}")


@app.command()
def add(package: Package, version: Version, inventory: Inventory = None) -> None:
    """Make the folder of a version, as root; a plan that asks for it makes it as well.

    Examples: `mqperf software add nats-server 2.10`,
    `mqperf software add rabbitmq-server 4.3 --inventory hosts.yaml`
    """
    from mqperf_software.hosts import debian

    with _brokers(inventory) as hosts:
        for host in hosts:
            root = debian.find(host, package, version)
            if root is None:
                print_lines(console, f"{_of(host)}getting {package} {version}, which takes minutes")
                root = debian.make(host, package, version)
            print_lines(console, f"{_of(host)}{root.folder}")


@app.command()
def remove(package: Package, version: Version, inventory: Inventory = None) -> None:
    """Remove the folders of a version.

    Example: `mqperf software remove rabbitmq-server 4.3`
    """
    from mqperf_software.hosts import debian

    removed = False
    with _brokers(inventory) as hosts:
        for host in hosts:
            for root in debian.roots(host):
                if debian.fits(root, package, version):
                    debian.remove(host, root)
                    print_lines(console, f"removed {_of(host)}{root.folder}")
                    removed = True
    if not removed:
        print_lines(console, f"there is no {package} {version} to remove: mqperf software list")
        raise typer.Exit(FAULT)


@contextmanager
def _brokers(inventory: Path | None) -> Iterator[tuple["Host", ...]]:
    """Yield the broker hosts of an inventory, or this machine."""
    from mqperf.hosts import HERE, HOSTS
    from mqperf.hosts.several import of_inventory

    kind = HOSTS[HERE] if inventory is None else of_inventory(inventory, programs=True)
    with kind.reached() as hosts:
        yield hosts.broker


def _of(host: "Host") -> str:
    from mqperf.hosts import HERE

    return "" if host.name == HERE else f"{host.name}: "


COMMAND = Command("software", app)
