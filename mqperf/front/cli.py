"""The command line: translates what a person types into calls, and does nothing else."""

import gc
import io
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from mqperf.base.errors import MqperfError
from mqperf.base.terminal import complaints, console, print_all, print_line, print_lines
from mqperf.front import results_cli
from mqperf.front.commands import Commands
from mqperf.front.findings import FAULT

if TYPE_CHECKING:
    from mqperf.front.live import Pulse
    from mqperf.lab.runner import Outcome

app = typer.Typer(
    name="mqperf",
    cls=Commands,
    help="A message-queue performance laboratory whose numbers audit themselves.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

PlanFile = Annotated[
    Path, typer.Argument(metavar="PLAN", help="a plan, e.g. plans/quickstart.yaml")
]
PlanFiles = Annotated[
    list[Path], typer.Argument(metavar="PLAN", help="plans, e.g. plans/quickstart.yaml")
]
RunsFolder = Annotated[
    Path, typer.Argument(metavar="RUNS", help="a runs folder, e.g. data/runs/quickstart")
]
FAILED_RUNS = 1
"""Exit code of a sweep in which some runs failed."""

INTERRUPTED = 130
"""Exit code after Ctrl-C or SIGTERM, as in shells."""


def main() -> None:
    """Run the command line; explained errors become one line on stderr and exit code 2."""
    gc.set_threshold(100_000)  # imports create many lasting objects, and no garbage to collect
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupted)
    os.environ.pop("MPLBACKEND", None)  # figures are files here; notebooks choose their own
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # for names if the output is ASCII
    try:
        try:
            if sys.argv[1:] == ["--version"]:
                print_version()
            else:
                app()
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()  # report a failed write here, not at interpreter exit
    except MqperfError as error:
        _complain(str(error))
    except OSError as error:
        _complain(f"{error.filename or 'its output'}: {error.strerror or error}")


def _complain(text: str) -> NoReturn:
    from mqperf.base.redaction import without_passwords

    with suppress(OSError):
        print_lines(complaints, f"mqperf: {without_passwords(text)}")
    for stream in filter(None, (sys.stdout, sys.stderr)):
        try:
            stream.flush()
        except OSError:  # keep the interpreter from flushing again at exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    sys.exit(FAULT)


@app.callback(invoke_without_command=True)
def _version(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        print_version()
        raise typer.Exit


def print_version() -> None:
    """Print the version of mqperf."""
    from mqperf.base.version import version

    print_line(console, f"mqperf {version()}")


HostsOption = Annotated[
    str | None,
    typer.Option(
        "--hosts",
        metavar="INVENTORY",
        help="The hosts on which everything runs: an Ansible inventory, which may be a program, or"
        " `laboratory` for five network namespaces of this machine. By default the hosts of the"
        " plan, or this machine.",
    ),
]


@app.command()
def plan(
    file: PlanFile,
    everything: Annotated[
        bool, typer.Option("--all", help="All cases with all their commands, however many.")
    ] = False,
    hosts: HostsOption = None,
    check_hosts: Annotated[
        bool, typer.Option("--check-hosts", help="Connect to the hosts, and check what they have.")
    ] = False,
) -> None:
    """Show what a plan would do: its cases, the exact commands, the expected finish. Runs nothing.

    This machine is checked; other hosts are contacted only with --check-hosts. An inventory that
    the plan names is read as data; only one that --hosts gives may be a program.

    Examples: `mqperf plan plans/rabbitmq.yaml`, `mqperf plan plans/smoke.yaml --hosts hosts.yaml`
    """
    from mqperf.front.preview import preview
    from mqperf.lab.systems.in_plans import problems_of
    from mqperf.plan.file import load_plan

    text = preview(
        load_plan(file, problems_of), everything=everything, hosts=hosts, check_hosts=check_hosts
    )
    print_all(console, text.split("\n"))


@app.command()
def run(
    files: PlanFiles,
    runs: Annotated[
        Path | None,
        typer.Option(
            help="Where run folders go; data/runs/NAME by default. Of several plans: RUNS/NAME."
        ),
    ] = None,
    interleave: Annotated[
        bool,
        typer.Option("--interleave", help="Alternate repeats of the plans, to compare them."),
    ] = False,
    decide: Annotated[
        str,
        typer.Option(
            metavar="DIFFERENCE",
            help="Repeat the points of two plans in turns until it is decided for each whether its"
            " throughput differs by this much, such as 5%.",
        ),
    ] = "",
    within: Annotated[str, typer.Option(help="Time limit for --decide.")] = "20 min",
    live: Annotated[
        bool,
        typer.Option("--live", help="Also show the runs on a page, for a browser on this machine."),
    ] = False,
    only: Annotated[
        str,
        typer.Option(
            metavar="CASE", help="Only this case: its run folder, or the end of that name."
        ),
    ] = "",
    hosts: HostsOption = None,
) -> None:
    """Run the pending cases of plans, record them, and show what each test case sustains.

    Repeat the command after an interruption: it runs only what is missing. Exit code 1 means that
    some runs failed; the others are recorded. Several plans run one after the other.

    Examples: `mqperf run plans/quickstart.yaml`, `mqperf run before.yaml after.yaml --interleave`
    """
    from rich.console import Console

    from mqperf.front.running import differences, measured
    from mqperf.lab.runner import Job
    from mqperf.lab.systems.in_plans import problems_of
    from mqperf.plan.file import read_plans, with_decision

    plans = read_plans(files, problems_of)
    if decide:
        plans = with_decision(plans, decide, within)
    several = len(plans) > 1
    base = runs or Path("data/runs")
    jobs = [
        Job(file.plan, file.text, base / file.plan.name if several or runs is None else runs, only)
        for file in plans
    ]
    bars = Console(highlight=False)
    outcomes = measured(jobs, bars, _served if live else None, interleave=interleave, hosts=hosts)
    errors = []
    for job, outcome in zip(jobs, outcomes, strict=True):
        try:
            _print_outcome(job.runs, outcome)
        except MqperfError as error:  # of one plan: the outcomes of the others are printed anyway
            errors.append(str(error))
    if errors:
        raise MqperfError("\n".join(errors))
    print_all(console, differences(jobs))
    if any(outcome.failed for outcome in outcomes):
        raise typer.Exit(FAILED_RUNS)


@contextmanager
def _served(pulse: "Pulse") -> Iterator[None]:
    """Serve the live page of the runs, and print its address."""
    from mqperf.front.live import served

    with served(pulse) as address:
        print_line(console, f"live: {address}")
        yield


def _print_outcome(runs: Path, outcome: "Outcome") -> None:
    """Print the results of a plan, and how many runs failed."""
    from mqperf.base.one_line import amount
    from mqperf.front.running import recorded
    from mqperf.pages.questions.first_screen import of_folder

    print_line(console, recorded(runs, outcome))
    print_line(console, "")
    if outcome.failed:
        print_line(
            complaints,
            f"mqperf: {amount(len(outcome.failed), 'run')} failed; the evidence is in"
            f" {runs}/*.failed-*, and the same command tries again",
        )
    print_all(console, of_folder(runs, console.width if console.is_terminal else None))


@app.command()
def status(runs: RunsFolder) -> None:
    """Show for each case whether it is done, failed or pending.

    Example: `mqperf status data/runs/quickstart`
    """
    from mqperf.front.status import status

    print_all(console, status(runs).split("\n"))


def _interrupted(_number: int, _frame: FrameType | None) -> None:
    print_line(complaints, "mqperf: interrupted; the same command continues where it stopped")
    sys.exit(INTERRUPTED)


app.add_typer(results_cli.app)
