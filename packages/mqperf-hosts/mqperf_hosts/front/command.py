"""The commands about hosts: ``mqperf hosts``, and ``mqperf doctor`` about this one."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from mqperf.base.terminal import console, print_line
from mqperf.front.commands import Command

app = typer.Typer(
    help="Check and prepare the hosts of an inventory.",
    no_args_is_help=True,
    rich_markup_mode=None,
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
    from mqperf.front.findings import tell
    from mqperf_hosts.front.host_check import examine

    tell(examine(inventory, systems or []))


@app.command()
def prepare(
    inventory: Inventory,
    systems: Systems = None,
    *,
    dry_run: Annotated[bool, typer.Option(help="Change nothing, show what would change.")] = False,
) -> None:
    """Install on every host what its role needs, with Ansible, as root or with sudo.

    For Debian and Ubuntu. One line for each: what was installed. Services are not started. A second
    run changes nothing. Exit code 2 means that a host could not be prepared.

    Examples: `mqperf hosts prepare hosts.yaml`, `mqperf hosts prepare hosts.yaml artemis --dry-run`
    """
    from mqperf.front.findings import tell
    from mqperf_hosts.front.installation import prepare as prepared

    tell(prepared(inventory, systems or [], dry=dry_run))


COMMAND = Command("hosts", app)


def doctor(
    systems: Annotated[
        list[str] | None, typer.Argument(metavar="[SYSTEM]...", help="only these, e.g. rabbitmq")
    ] = None,
    generators: Annotated[
        bool,
        typer.Option(
            "--generators", "--simulators", help="Also install and try the load generators."
        ),
    ] = False,
    fix: Annotated[
        bool, typer.Option("--fix", help="First install what is missing with apt, after you agree.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Agree without being asked.")] = False,
) -> None:
    """Show what is installed, in which versions, and how to install what is missing.

    With `--fix` the command that installs it is shown, and run as root or with sudo.

    Examples: `mqperf doctor`, `mqperf doctor rabbitmq --generators`, `mqperf doctor --fix --yes`
    """
    from mqperf.front.findings import tell
    from mqperf_hosts.front.doctor import examine
    from mqperf_hosts.front.fixing import install, installation

    if fix and (command := installation(systems or [])):
        print_line(console, f"to install what is missing: {command}")
        if yes or (sys.stdin.isatty() and typer.confirm("run it?")):
            install(command)
    tell(examine(systems or [], generators=generators))


DOCTOR = Command("doctor", doctor)
