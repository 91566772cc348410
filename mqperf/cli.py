"""The command line: translates what a person types into calls, and does nothing else."""

import io
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Literal, NoReturn

import typer
from rich.console import Console

from mqperf import hosts_cli
from mqperf.errors import MqperfError
from mqperf.plan_file import load_plan, read_plans
from mqperf.redaction import without_passwords
from mqperf.version import version as own_version

if TYPE_CHECKING:
    from mqperf.runner import Outcome

app = typer.Typer(
    name="mqperf",
    help="A message-queue performance laboratory whose numbers audit themselves.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)
app.add_typer(hosts_cli.app, name="hosts")
console = Console(highlight=False)
complaints = Console(stderr=True, highlight=False, soft_wrap=True)

PlanFile = Annotated[
    Path, typer.Argument(metavar="PLAN", help="a plan, e.g. plans/quickstart.yaml")
]
PlanFiles = Annotated[
    list[Path], typer.Argument(metavar="PLAN", help="plans, e.g. plans/quickstart.yaml")
]
RunsFolder = Annotated[
    Path, typer.Argument(metavar="RUNS", help="a runs folder, e.g. data/runs/quickstart")
]
TablesFolder = Annotated[
    Path, typer.Argument(metavar="PATH", help="a runs folder, or tables of a published report")
]

FAULT = 2
"""Exit code for anything that went wrong and was explained."""

FAILED_RUNS = 1
"""Exit code of a sweep in which some runs failed."""

INTERRUPTED = 130
"""Exit code after Ctrl-C or SIGTERM, as shells have it."""


def main() -> None:
    """Run the command line; explained errors become one line on stderr and exit code 2."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupted)
    os.environ.pop("MPLBACKEND", None)  # figures are files here; notebooks choose their own
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # names in an output of ASCII
    try:
        try:
            app()
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()  # what cannot be written is an error of ours, not of the exit
    except MqperfError as error:
        _complain(str(error))
    except OSError as error:
        _complain(f"{error.filename or 'its output'}: {error.strerror or error}")


def _complain(text: str) -> NoReturn:
    with suppress(OSError):
        complaints.print(f"mqperf: {without_passwords(text)}", markup=False)
    for stream in filter(None, (sys.stdout, sys.stderr)):
        try:
            stream.flush()
        except OSError:  # nor shall the interpreter try once more at its end
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    sys.exit(FAULT)


@app.callback(invoke_without_command=True)
def _version(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        console.print(f"mqperf {own_version()}")
        raise typer.Exit


HostsOption = Annotated[
    str | None,
    typer.Option(
        "--hosts",
        metavar="INVENTORY",
        help="The hosts on which everything runs: an inventory of Ansible, or `laboratory` for"
        " five of our own on this machine. By default what the plan says, or this machine.",
    ),
]


@app.command()
def doctor(
    systems: Annotated[
        list[str] | None, typer.Argument(metavar="[SYSTEM]...", help="only these, e.g. rabbitmq")
    ] = None,
    generators: Annotated[
        bool,
        typer.Option("--generators", "--simulators", help="Also make and try the load generators."),
    ] = False,
) -> None:
    """Say what is installed, in which versions, and how to get what is missing.

    Examples: `mqperf doctor`, `mqperf doctor rabbitmq --generators`
    """
    from mqperf.doctor import examine

    hosts_cli.tell(examine(systems or [], generators=generators))


@app.command()
def plan(
    file: PlanFile,
    everything: Annotated[
        bool, typer.Option("--all", help="All cases with all their commands, however many.")
    ] = False,
    hosts: HostsOption = None,
) -> None:
    """Show what a plan would do: its cases, the exact commands, the expected finish. Runs nothing.

    Example: `mqperf plan plans/rabbitmq.yaml`
    """
    from mqperf.preview import preview
    from mqperf.systems.in_plans import problems_of

    text = preview(load_plan(file, problems_of), everything=everything, hosts=hosts)
    console.print(text, markup=False, soft_wrap=True)


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
        typer.Option("--interleave", help="Take the repeats of the plans in turns, to compare."),
    ] = False,
    hosts: HostsOption = None,
) -> None:
    """Run what is pending of plans, record it, and show the best points.

    A repeated command completes only what is missing, after any interruption. Exit code 1 says that
    some runs failed; the others are recorded. Several plans run one after the other.

    Examples: `mqperf run plans/quickstart.yaml`, `mqperf run before.yaml after.yaml --interleave`
    """
    from mqperf.progress import Bar
    from mqperf.runner import Job, sweep_all
    from mqperf.systems.in_plans import problems_of

    given = read_plans(files, problems_of)
    several = len(given) > 1
    base = runs or Path("data/runs")
    jobs = [
        Job(one.plan, one.text, base / one.plan.name if several or runs is None else runs)
        for one in given
    ]
    with Bar(console) as bar:
        outcomes = sweep_all(jobs, bar, interleave=interleave, hosts=hosts)
    troubles = []
    for job, outcome in zip(jobs, outcomes, strict=True):
        try:
            _tell(job.runs, outcome)
        except MqperfError as error:  # of one plan: the others are told all the same
            troubles.append(str(error))
    if troubles:
        raise MqperfError("\n".join(troubles))
    if any(outcome.failed for outcome in outcomes):
        raise typer.Exit(FAILED_RUNS)


def _tell(runs: Path, outcome: "Outcome") -> None:
    """What became of a plan: its best points, and what failed."""
    from mqperf import answer
    from mqperf.progress import amount

    console.print(f"{amount(outcome.done, 'run')} recorded in {runs}\n", markup=False)
    if outcome.failed:
        complaints.print(
            f"mqperf: {amount(len(outcome.failed), 'run')} failed; the evidence is in"
            f" {runs}/*.failed-*, and the same command tries again",
            markup=False,
        )
    for line in answer.of_runs(runs):
        console.print(line, markup=False, soft_wrap=True)


@app.command()
def status(runs: RunsFolder) -> None:
    """Say of each case whether it is done, failed or pending.

    Example: `mqperf status data/runs/quickstart`
    """
    from mqperf.preview import status

    console.print(status(runs), markup=False, soft_wrap=True)


@app.command()
def tables(
    path: TablesFolder,
    out: Annotated[Path, typer.Option(help="Folder for one file per table.")],
    form: Annotated[
        Literal["csv", "parquet"], typer.Option("--format", help="File format.")
    ] = "csv",
    hdr: Annotated[
        bool, typer.Option("--hdr", help="Also an HdrHistogram log of latencies for each run.")
    ] = False,
) -> None:
    """Write every table as a file of its name.

    Example: `mqperf tables data/runs/quickstart --format csv --out tables --hdr`
    """
    from mqperf import stats
    from mqperf import tables as rooms
    from mqperf.tables.histograms import write_all

    found = stats.complete(rooms.read(path))
    files = rooms.write(found, out, form)
    if hdr:
        files += write_all(path, out / "hdr", rooms.all_attempts(found))
    for file in files:
        console.print(str(file), markup=False, soft_wrap=True)


@app.command()
def audit(
    path: TablesFolder,
    form: Annotated[
        Literal["text", "json"], typer.Option("--format", help="Text, or one JSON object a line.")
    ] = "text",
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 on any doubt.")] = False,
) -> None:
    """Say which numbers not to trust, and why.

    Examples: `mqperf audit data/runs/quickstart`, `mqperf audit data/published/2016 --format json`
    """
    from mqperf import stats
    from mqperf import tables as rooms
    from mqperf.stats.checks import as_json_lines, as_text_lines

    found = stats.complete(rooms.read(path))
    doubts = found["doubts"]
    for line in as_json_lines(doubts) if form == "json" else as_text_lines(found):
        console.print(line, markup=False, soft_wrap=True)
    if strict and len(doubts):
        raise typer.Exit(1)


@app.command()
def compare(
    a: Annotated[Path, typer.Argument(metavar="A", help="runs, or a published report")],
    b: Annotated[Path, typer.Argument(metavar="B", help="the same, later or elsewhere")],
    out: Annotated[
        Path | None, typer.Option(help="Folder for the comparison as table, figure and RST page.")
    ] = None,
    across: Annotated[
        bool, typer.Option("--across-systems", help="Compare points of different systems.")
    ] = False,
    min_effect: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Minimum relevant difference; 0.05 by default."),
    ] = None,
    practical: Annotated[float | None, typer.Option(min=0, max=1, hidden=True)] = None,
) -> None:
    """Compare two sets of runs point by point: better, worse, or cannot tell.

    Example: `mqperf compare data/runs/before data/runs/after --out reports/comparison`
    """
    from mqperf import stats
    from mqperf import tables as rooms
    from mqperf.report import comparison

    sides = [stats.complete(rooms.read(path)) for path in (a, b)]
    matters = practical if min_effect is None else min_effect  # the option's former name
    found = stats.compared(*sides, across_systems=across, min_effect=matters)
    for line in comparison.text_lines(**found):
        console.print(line, markup=False, soft_wrap=True)
    if out is not None:
        console.print(str(comparison.write(out, f"{a} and {b}", **found)), markup=False)


@app.command("import")
def import_(
    files: Annotated[list[Path], typer.Argument(metavar="REPORT", help="RST of a report, or CSV")],
    out: Annotated[Path, typer.Option(help="Folder of tables, e.g. data/published/2016.")],
    title: Annotated[str, typer.Option(help="What reports call these tables.")] = "",
) -> None:
    """Read published reports into tables, each row with its file and line.

    Example: `mqperf import cmsm/index.rst cs1ss2-ha/index.rst --out data/published/mine`
    """
    from mqperf import published

    for file in published.write(published.import_reports(files), out, title):
        console.print(str(file), markup=False, soft_wrap=True)


@app.command()
def report(
    path: TablesFolder,
    out: Annotated[Path, typer.Option(help="Folder of the report, e.g. reports/quickstart.")],
    notebooks: Annotated[
        bool, typer.Option(help="Execute the notebooks on the runs and link them.")
    ] = True,
) -> None:
    """Publish a report: RST, figures, tables, executed notebooks, and HTML in OUT/html.

    Example: `mqperf report data/runs/quickstart --out reports/quickstart`
    """
    from mqperf.report.build import publish

    page = publish(path, out, notebooks=notebooks)
    console.print(str(page), markup=False, soft_wrap=True)


def _interrupted(_number: int, _frame: FrameType | None) -> None:
    complaints.print("mqperf: interrupted; the same command goes on where it stopped")
    sys.exit(INTERRUPTED)
