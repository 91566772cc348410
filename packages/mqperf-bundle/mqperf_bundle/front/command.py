"""The command line of bundles: ``mqperf bundle``, ``mqperf verify`` and ``mqperf reproduce``."""

from pathlib import Path
from typing import Annotated

import typer

from mqperf.base.terminal import console, print_all
from mqperf.front.commands import Command

BundleFile = Annotated[Path, typer.Argument(metavar="BUNDLE", help="a file of mqperf bundle")]


def bundle(
    runs: Annotated[Path, typer.Argument(metavar="RUNS", help="a runs folder")],
    out: Annotated[Path, typer.Option(help="The file to write, e.g. sample.tar.xz.")],
    sign: Annotated[
        Path | None,
        typer.Option(metavar="KEY", help="Sign with this SSH key; with an agent, its public one."),
    ] = None,
    anonymous: Annotated[
        bool, typer.Option("--anonymous", help="Rename hosts, and seal the runs again.")
    ] = False,
    licence: Annotated[
        str, typer.Option("--license", help="License for others: a URL, or text.")
    ] = "",
) -> None:
    """Write runs, plan, versions, tables and report as one file that anybody can check.

    Nothing is written if a file seems to hold a secret.

    Examples: `mqperf bundle data/runs/quickstart --out quickstart.tar.xz`,
    `mqperf bundle data/runs/quickstart --out quickstart.tar.xz --sign ~/.ssh/id_ed25519`
    """
    from mqperf_bundle.front.bundling import bundle as bundled

    print_all(console, bundled(runs, out, key=sign, anonymous=anonymous, licence=licence))


def verify(
    file: BundleFile,
    allowed: Annotated[
        Path | None,
        typer.Option(
            "--allowed-signers",
            metavar="FILE",
            help="Allowed signers, as a file of ssh-keygen; one of them must have signed it.",
        ),
    ] = None,
) -> None:
    """Check a bundle: files, signature and seals; tables and report are made again and compared.

    Exit code 1 means that something differs from what was bundled.

    Examples: `mqperf verify quickstart.tar.xz`,
    `mqperf verify quickstart.tar.xz --allowed-signers signers`
    """
    from mqperf_bundle.front.verifying import verify as verified

    faults = 0
    for check in verified(file, allowed):
        faults += len(check.faults)
        print_all(console, check.lines())
    if faults:
        raise typer.Exit(1)


def reproduce(
    file: BundleFile,
    out: Annotated[
        Path | None,
        typer.Option(help="Where run folders go; data/runs/BUNDLE-again by default."),
    ] = None,
    hosts: Annotated[
        str | None,
        typer.Option(metavar="INVENTORY", help="The hosts, as for mqperf run."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Run the plan without asking.")] = False,
) -> None:
    """Run the plan of a bundle here, and compare: which figures agree within their interval.

    It shows the plan and asks before it runs: a plan may start programs. A in the comparison is the
    bundle, B is here. Repeat the command after an interruption: it runs only what is missing.

    Example: `mqperf reproduce quickstart.tar.xz --out data/runs/again`
    """
    from mqperf.front import api
    from mqperf.front.preview import preview
    from mqperf.record import PLAN
    from mqperf_bundle.front.reproducing import agreement, bundled_runs

    folder = out or Path("data/runs") / f"{file.name.partition('.')[0]}-again"
    with bundled_runs(file) as runs:
        plan = runs / PLAN
        if not yes:
            print_all(console, preview(api.load_plan(plan), hosts=hosts).split("\n"))
            typer.confirm("Run this plan here?", abort=True)
        comparison = api.compare(runs, api.run(plan, folder, hosts=hosts))
        print_all(console, (*comparison.lines(), *agreement(comparison.tables["comparison"])))


BUNDLE = Command("bundle", bundle)
VERIFY = Command("verify", verify)
REPRODUCE = Command("reproduce", reproduce)
