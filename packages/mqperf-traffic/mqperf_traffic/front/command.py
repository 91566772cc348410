"""The command line of captures: ``mqperf capture``."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from mqperf.base.terminal import complaints, console, print_all, print_line
from mqperf.front.commands import Command


def capture(
    url: Annotated[
        str, typer.Argument(metavar="URL", help="a running RabbitMQ, amqp://USER@HOST:PORT/VHOST")
    ],
    out: Annotated[Path, typer.Option(metavar="FILE", help="The profile; a new file.")],
    duration: Annotated[str, typer.Option("--for", help="Duration, e.g. 60s or 5min.")] = "60s",
    names: Annotated[
        bool, typer.Option("--names", help="Write names of exchanges, and routing keys.")
    ] = False,
    password_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A file with the password of the URL.")
    ] = None,
) -> None:
    """Count what is published to a virtual host of RabbitMQ, as a traffic profile to be replayed.

    Tracing must be on there: `rabbitmqctl trace_on -p VHOST`; afterwards, `trace_off`. The profile
    holds counts and lengths, no content, and no names without --names. The password is read from
    the variable MQPERF_PASSWORD, from a file, or asked for.

    Example: `mqperf capture amqp://perf@mq1/ --for 60s --out traffic.json`
    """
    from mqperf_projects.front.broker_url import with_password
    from mqperf_traffic.front.capture import captured, words

    known = with_password(url, password_file, ask=sys.stdin.isatty())
    profile = captured(known, duration, out, lambda line: print_line(complaints, line), names=names)
    print_all(console, words(profile))
    print_line(console, f"written to {out}")


CAPTURE = Command("capture", capture)
