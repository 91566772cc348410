"""The command line: translates what a person types into calls, and does nothing else."""

import io
import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Literal, NoReturn

import typer
from rich.console import Console

from mqperf.base.errors import MqperfError
from mqperf.base.redaction import without_passwords
from mqperf.base.terminal import print_line, print_lines
from mqperf.base.version import version as own_version
from mqperf.front import hosts_cli
from mqperf.front.commands import Commands
from mqperf.plan.file import load_plan, read_plans

if TYPE_CHECKING:
    from mqperf.front.api import Comparison
    from mqperf.front.live import Pulse
    from mqperf.front.trends import Trend
    from mqperf.lab.runner import Outcome

app = typer.Typer(
    name="mqperf",
    cls=Commands,
    help="A message-queue performance laboratory whose numbers audit themselves.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)
app.add_typer(hosts_cli.app, name="hosts")
console = Console(highlight=False)
complaints = Console(stderr=True, highlight=False)

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

SingleFile = Annotated[
    bool,
    typer.Option(
        "--single-file",
        help="Write OUT as one self-contained HTML file, e.g. OUT = report.html.",
    ),
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
        print_lines(complaints, f"mqperf: {without_passwords(text)}")
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
        print_line(console, f"mqperf {own_version()}")
        raise typer.Exit


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
) -> None:
    """Show what is installed, in which versions, and how to install what is missing.

    Examples: `mqperf doctor`, `mqperf doctor rabbitmq --generators`
    """
    from mqperf.front.doctor import examine

    hosts_cli.tell(examine(systems or [], generators=generators))


@app.command()
def plan(
    file: PlanFile,
    everything: Annotated[
        bool, typer.Option("--all", help="All cases with all their commands, however many.")
    ] = False,
    hosts: HostsOption = None,
    check_hosts: Annotated[
        bool, typer.Option("--check-hosts", help="Reach the hosts, and look at what they have.")
    ] = False,
) -> None:
    """Show what a plan would do: its cases, the exact commands, the expected finish. Runs nothing.

    This machine is looked at; other hosts are reached with --check-hosts alone. An inventory that
    the plan names is read as data; only one that --hosts gives may be a program.

    Examples: `mqperf plan plans/rabbitmq.yaml`, `mqperf plan plans/smoke.yaml --hosts hosts.yaml`
    """
    from mqperf.front.preview import preview
    from mqperf.lab.systems.in_plans import problems_of

    text = preview(
        load_plan(file, problems_of), everything=everything, hosts=hosts, check_hosts=check_hosts
    )
    for line in text.split("\n"):
        print_line(console, line)


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
        typer.Option("--interleave", help="Alternate the repeats of the plans, to compare them."),
    ] = False,
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
    from mqperf.front.running import measured
    from mqperf.lab.runner import Job
    from mqperf.lab.systems.in_plans import problems_of

    given = read_plans(files, problems_of)
    several = len(given) > 1
    base = runs or Path("data/runs")
    jobs = [
        Job(one.plan, one.text, base / one.plan.name if several or runs is None else runs, only)
        for one in given
    ]
    outcomes = measured(
        jobs, console, _served if live else None, interleave=interleave, hosts=hosts
    )
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


@contextmanager
def _served(pulse: "Pulse") -> Iterator[None]:
    """The page of the runs, whose address is told."""
    from mqperf.front.live import served

    with served(pulse) as address:
        print_line(console, f"live: {address}")
        yield


def _tell(runs: Path, outcome: "Outcome") -> None:
    """What became of a plan: its results, and what failed."""
    from mqperf.base.one_line import amount
    from mqperf.pages import answer

    recorded = f"{amount(outcome.done, 'run')} recorded in {runs}"
    if outcome.kept and not outcome.done and not outcome.failed:
        recorded = f"nothing to run: {amount(outcome.kept, 'run')} recorded in {runs} already"
    elif outcome.kept:
        recorded += f", beside {outcome.kept} from before"
    print_line(console, recorded)
    print_line(console, "")
    if outcome.failed:
        print_line(
            complaints,
            f"mqperf: {amount(len(outcome.failed), 'run')} failed; the evidence is in"
            f" {runs}/*.failed-*, and the same command tries again",
        )
    for line in answer.of_runs(runs, console.width if console.is_terminal else None):
        print_line(console, line)


@app.command()
def status(runs: RunsFolder) -> None:
    """Show for each case whether it is done, failed or pending.

    Example: `mqperf status data/runs/quickstart`
    """
    from mqperf.front.preview import status

    for line in status(runs).split("\n"):
        print_line(console, line)


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
    """Write every table to a file of its name.

    Example: `mqperf tables data/runs/quickstart --format csv --out tables --hdr`
    """
    from mqperf.study.stats.seconds import write_complete
    from mqperf.study.tables import all_attempts
    from mqperf.study.tables.histograms import write_all

    found, files = write_complete(path, out, form)
    if hdr:
        files += write_all(path, out / "hdr", all_attempts(found))
    for file in files:
        print_line(console, str(file))


@app.command()
def audit(
    path: TablesFolder,
    form: Annotated[
        Literal["text", "json"], typer.Option("--format", help="Text, or one JSON object per line.")
    ] = "text",
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 on any doubt.")] = False,
) -> None:
    """Show which numbers not to trust, and why.

    Examples: `mqperf audit data/runs/quickstart`, `mqperf audit data/published/2016 --format json`
    """
    from mqperf.study.stats.checks import as_json_lines, as_text_lines
    from mqperf.study.stats.seconds import read_complete

    found = read_complete(path)
    doubts = found["doubts"]
    for line in as_json_lines(doubts) if form == "json" else as_text_lines(found):
        print_line(console, line)
    if strict and len(doubts):
        raise typer.Exit(1)


@app.command()
def show(
    path: TablesFolder,
    section: Annotated[
        str, typer.Argument(help="messages, points, nodes, outages ...; of each what there is.")
    ] = "points",
    test_case: Annotated[str, typer.Option("--test-case", help="Only this test case.")] = "",
    form: Annotated[
        Literal["text", "json"], typer.Option("--format", help="Text, or one JSON object per line.")
    ] = "text",
) -> None:
    """Show one section of the report here: its sentences and its table.

    Examples: `mqperf show data/runs/quickstart`,
    `mqperf show data/samples/faults outages --format json`
    """
    from mqperf.pages.sections import shown
    from mqperf.pages.sections.forms import document, lines
    from mqperf.study.stats.seconds import read_complete
    from mqperf.study.tables import of_plan

    for view, content in shown(of_plan(read_complete(path)), section, test_case):
        if form == "json":
            print_line(console, json.dumps(document(view, content), ensure_ascii=False))
            continue
        print_line(console, f"{view.layout.system_title}, {view.layout.label}, {view.case.title}")
        for line in lines(content, console.width):
            print_line(console, line)
        print_line(console, "")


@app.command()
def compare(
    a: Annotated[Path, typer.Argument(metavar="A", help="runs, or a published report")],
    b: Annotated[Path, typer.Argument(metavar="B", help="the same, later or elsewhere")],
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the comparison: tables, figures, RST, and HTML in OUT/html."),
    ] = None,
    single_file: SingleFile = False,
    across: Annotated[
        bool, typer.Option("--across-systems", help="Compare points of different systems.")
    ] = False,
    min_effect: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Minimum relevant difference; 0.05 by default."),
    ] = None,
    practical: Annotated[float | None, typer.Option(min=0, max=1, hidden=True)] = None,
    fail_on: Annotated[
        Literal["worse"] | None,
        typer.Option("--fail-on", help="Exit with 1 when any figure has this verdict, for CI."),
    ] = None,
) -> None:
    """Compare two sets of runs point by point: better, worse, or cannot tell.

    With --out it also writes a page, whose path is the last line.

    Examples: `mqperf compare data/runs/before data/runs/after --out reports/comparison`,
    `mqperf compare data/runs/before data/runs/after --fail-on worse`
    """
    from mqperf.front.api import compare as compared

    _check_named(out, "comparison.html", single_file=single_file)
    matters = practical if min_effect is None else min_effect  # the option's former name
    found = compared(a, b, across_systems=across, min_effect=matters)
    _show(found, out, single_file=single_file)
    if fail_on is not None and (found.ratios["verdict"] == fail_on).any():
        raise typer.Exit(1)


@app.command()
def trend(
    folders: Annotated[
        list[Path],
        typer.Argument(
            metavar="FOLDER...", help="runs folders, or published reports, in any order"
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the trend: tables, figures, RST, and HTML in OUT/html."),
    ] = None,
    single_file: SingleFile = False,
    min_effect: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Minimum relevant difference; 0.05 by default."),
    ] = None,
    fail_on: Annotated[
        Literal["worse", "newest-worse"] | None,
        typer.Option(
            "--fail-on",
            help="Exit with 1 when any change is worse, or any in the newest folder, for CI.",
        ),
    ] = None,
) -> None:
    """Follow the same points over many folders of runs, and find what changed.

    Folders are ordered by time, and each point is compared with the previous folder of the same
    machine. A step that control runs show as well is drift of the machine. With --out it also
    writes a page, whose path is the last line.

    Examples: `mqperf trend data/runs/nightly-* --out reports/trend`,
    `mqperf trend data/runs/nightly-* --fail-on newest-worse`
    """
    from mqperf.front.trends import trend as trend_of

    _check_named(out, "trend.html", single_file=single_file)
    found = trend_of(folders, min_effect=min_effect)
    for problem in found.problems:
        print_lines(complaints, f"mqperf: {without_passwords(problem)}")
    _show(found, out, single_file=single_file)
    if fail_on is not None and found.worse(newest=fail_on == "newest-worse"):
        raise typer.Exit(1)


def _check_named(out: Path | None, example: str, *, single_file: bool) -> None:
    if single_file and out is None:
        raise MqperfError(f"--single-file needs the name of the file: add --out {example}")


def _show(found: "Comparison | Trend", out: Path | None, *, single_file: bool) -> None:
    """Its lines, and its page if there is to be one."""
    for line in found.lines():
        print_line(console, line)
    if out is not None:
        page = found.report(out, single_file=single_file)
        print_line(console, str(page))


@app.command("import")
def import_(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH",
            help="RST of a report, or CSV; or the folder of a run of another tool, such as quiver",
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
) -> None:
    """Read published reports, and runs of other tools, into tables.

    Runs are read by importers, which packages bring: mqperf-imported knows Maestro and quiver.

    Examples: `mqperf import cmsm/index.rst cs1ss2-ha/index.rst --out data/published/mine`,
    `mqperf import quiver-run --system qpid-dispatch --out data/published/quiver`
    """
    from mqperf.study import published
    from mqperf.study.published.measurement import About

    found = published.import_paths(paths, About(system, topology, queues))
    for file in published.write(found.tables, out, title, found.latencies):
        print_line(console, str(file))


@app.command()
def report(
    path: TablesFolder,
    out: Annotated[Path, typer.Option(help="Folder of the report, e.g. reports/quickstart.")],
    notebooks: Annotated[
        bool, typer.Option(help="Execute the notebooks on the runs and link them.")
    ] = True,
    single_file: SingleFile = False,
) -> None:
    """Publish a report: RST, figures, tables, executed notebooks, and HTML in OUT/html.

    It prints a line for each step; the last line is the page to open first. A single file has all
    pages, figures and tables, but no notebooks.

    Examples: `mqperf report data/runs/quickstart --out reports/quickstart`,
    `mqperf report data/runs/quickstart --single-file --out quickstart.html`
    """
    from mqperf.pages.report.build import publish, publish_file

    def tell(doing: str) -> None:
        print_line(console, f"{doing} ...")

    if single_file:
        page = publish_file(path, out, tell=tell)
    else:
        page = publish(path, out, notebooks=notebooks, tell=tell)
    print_line(console, str(page))


def _interrupted(_number: int, _frame: FrameType | None) -> None:
    print_line(complaints, "mqperf: interrupted; the same command continues where it stopped")
    sys.exit(INTERRUPTED)
