"""The commands about hosts: ``mqperf hosts``."""

from pathlib import Path
from typing import Annotated

import typer

from mqperf.front.commands import Command

app = typer.Typer(
    help="Check and prepare the hosts of an inventory.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)


Inventory = Annotated[
    Path, typer.Argument(metavar="INVENTORY", help="an inventory of Ansible, e.g. hosts.yaml")
]
Systems = Annotated[
    list[str] | None,
    typer.Argument(metavar="[SYSTEM]...", help="what brokers must have, e.g. zeromq"),
]


@app.command()
def check(inventory: Inventory, systems: Systems = None) -> None:
    """Show for every host whether a plan could run there, and how to install what is missing.

    One line for each: Python, cores, free disk, clock and round trip, and the tools for its role.
    Nothing is installed or left there. Exit code 2 means that a plan could not run.

    Examples: `mqperf hosts check hosts.yaml`, `mqperf hosts check hosts.yaml zeromq`
    """
    from mqperf.front.doctor import tell
    from mqperf_hosts.front.host_check import examine

    tell(examine(inventory, systems or []))


@app.command()
def prepare(
    inventory: Inventory,
    systems: Systems = None,
    *,
    dry_run: Annotated[bool, typer.Option(help="Change nothing, show what would be.")] = False,
) -> None:
    """Install on every host what its role needs, with Ansible, as root or with sudo.

    For Debian and Ubuntu. One line for each: what was installed. Services are not started. A second
    run changes nothing. Exit code 2 means that a host could not be prepared.

    Examples: `mqperf hosts prepare hosts.yaml`, `mqperf hosts prepare hosts.yaml artemis --dry-run`
    """
    from mqperf.front.doctor import tell
    from mqperf_hosts.front.installation import prepare as prepared

    tell(prepared(inventory, systems or [], dry=dry_run))


COMMAND = Command("hosts", app)
