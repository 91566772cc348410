"""The commands for beginners, ``mqperf plans`` and others, each a Typer of its own."""

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from mqperf.base.terminal import console, print_all, print_line
from mqperf.front.commands import Command

FAILED = 1
"""Exit code where a threshold does not hold."""


def plans(
    name: Annotated[
        str, typer.Argument(metavar="[NAME]", help="a shipped plan, e.g. quickstart")
    ] = "",
) -> None:
    """List the plans that come with mqperf, the shortest first; or print one of them.

    A line for each: its name, how long it takes, what must be installed for it, and its question.
    All commands take such a plan by its name, where no file is called so.

    Examples: `mqperf plans`, `mqperf plans quickstart >mine.yaml`, `mqperf run quickstart`
    """
    from mqperf_projects.front.listing import lines, text_of

    width = console.width if console.is_terminal else None
    print_all(console, text_of(name).splitlines() if name else lines(width))


PLANS = Command("plans", plans)


def new(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="a folder, new or empty")],
    question: Annotated[
        str,
        typer.Option(
            help="What to find out: saturation, scaling, sustained, comparison, factor, outage."
        ),
    ] = "saturation",
    system: Annotated[str, typer.Option(help="The system to measure.")] = "",
    test_case: Annotated[str, typer.Option("--test-case", help="What clients do.")] = "",
    values: Annotated[
        str, typer.Option(help="What is varied, separated by commas, e.g. '1, 5, 25' threads.")
    ] = "",
) -> None:
    """Make a project: a plan for a question, notebooks, data/, reports/, README and a file for CI.

    On a terminal it asks for what no option says: system, test case, and the values to vary.
    Elsewhere it takes rabbitmq, rpc-call, and the usual values.

    Examples: `mqperf new limits`, `mqperf new threads --question scaling --values "1, 10, 50"`
    """
    from mqperf_projects.front.project import check_empty, create
    from mqperf_projects.front.questions import plan_text, template

    variation = template(question)
    check_empty(folder)
    system = system or _prompt("system", "rabbitmq")
    test_case = test_case or _prompt("test case", "rpc-call")
    values = values or _prompt(variation.values, variation.usual)
    text = plan_text(question, system, test_case, values)
    create(folder, question, test_case, text)
    print_all(console, text.splitlines())
    print_line(console, "")
    print_line(console, f"written to {folder}: mqperf run {question}.yaml measures it there")


def _prompt(text: str, default: str) -> str:
    """Ask on a terminal; return the answer, or the default where there is no terminal."""
    return str(typer.prompt(text, default=default)) if _is_terminal() else default


def _is_terminal() -> bool:
    return sys.stdin.isatty()


NEW = Command("new", new)


def quick(
    url: Annotated[
        str,
        typer.Argument(
            metavar="[URL]", help="a running broker, amqp://USER@HOST:PORT/VHOST; else a new one"
        ),
    ] = "",
    rate: Annotated[
        float | None, typer.Option(min=0.001, help="Messages a second; else as many as possible.")
    ] = None,
    duration: Annotated[str, typer.Option("--for", help="Duration, e.g. 30s or 5min.")] = "10s",
    size: Annotated[int, typer.Option(help="Bytes of each message.")] = 256,
    threads: Annotated[int, typer.Option(help="Publishers, each with a queue and consumer.")] = 1,
    queue: Annotated[str, typer.Option(help="The kind of queue: classic, quorum ...")] = "classic",
    p50: Annotated[str, typer.Option(help="Limit of the median latency, e.g. 5ms.")] = "",
    p95: Annotated[str, typer.Option(help="Limit of the 95th percentile of latency.")] = "",
    p99: Annotated[str, typer.Option(help="Limit of the 99th percentile of latency.")] = "",
    p999: Annotated[str, typer.Option(help="Limit of the 99.9th percentile of latency.")] = "",
    lost: Annotated[str, typer.Option(help="Limit of lost messages: 0, or 0.1% of them.")] = "",
    throughput: Annotated[str, typer.Option(help="Minimum throughput, in msg/s.")] = "",
    junit: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the verdicts as JUnit XML.")
    ] = None,
    password_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A file with the password of the URL.")
    ] = None,
    runs: Annotated[
        Path | None, typer.Option(help="Folder of the run; data/runs/quick/TIME by default.")
    ] = None,
) -> None:
    """Publish to a RabbitMQ broker for a while, print the plan, and show which thresholds hold.

    The password of the URL is read from the variable MQPERF_PASSWORD, from a file, or asked for.
    Exit code 1 means that a threshold does not hold, or that the run failed. A threshold holds only
    on numbers that the run's own records do not contradict.

    Examples: `mqperf quick`,
    `mqperf quick amqp://perf@mq1/ --rate 5000 --for 30s --p99 50ms --lost 0 --junit quick.xml`
    """
    from rich.console import Console

    from mqperf_projects.front import thresholds as limits
    from mqperf_projects.front.broker_url import with_password
    from mqperf_projects.front.quick import measure, plan_text, usual_folder

    latencies = {"p50": p50, "p95": p95, "p99": p99, "p999": p999}
    given = [limits.latency(f"latency_{name}_s", text) for name, text in latencies.items() if text]
    given += [limits.lost(lost)] if lost else []
    given += [limits.throughput(throughput)] if throughput else []
    plan_url = with_password(url, password_file, ask=_is_terminal()) if url else None
    load = {"green_threads": threads, "rate_msg_s": rate, "payload_bytes": size}
    text = plan_text(plan_url, queue, duration, load)
    print_all(console, text.splitlines())
    print_line(console, "")
    if not measure(text, given, runs or usual_folder(), Console(highlight=False), junit):
        raise typer.Exit(FAILED)


QUICK = Command("quick", quick)


def schema() -> None:
    """Print the JSON schema of plans, with which editors complete keys and mark mistakes.

    Its names are those of mqperf and of the packages that are installed.

    Example: `mqperf schema >plan.schema.json`
    """
    import json

    from mqperf_projects.front.schema import plan_schema

    print_all(console, json.dumps(plan_schema(), indent=2).splitlines())


SCHEMA = Command("schema", schema)


def completion(
    shell: Annotated[Literal["bash", "zsh", "fish"], typer.Argument(help="The shell.")],
) -> None:
    """Print a script for a shell, which then completes commands, options, plans and runs folders.

    A key pressed starts no Python. After a package is installed, make the script again.

    Example: `mqperf completion bash >~/.local/share/bash-completion/completions/mqperf`
    """
    from mqperf_projects.front.completion import SHELLS

    print_all(console, SHELLS[shell]().splitlines())


COMPLETION = Command("completion", completion)
