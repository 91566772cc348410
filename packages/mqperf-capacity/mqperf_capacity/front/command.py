"""The command line of predictions: ``mqperf predict``."""

import json
from typing import Annotated, Literal

import typer

from mqperf.base.errors import MqperfError
from mqperf.base.terminal import console, print_all, print_line
from mqperf.front.commands import Command
from mqperf.front.results_cli import TablesFolder


def predict(
    path: TablesFolder,
    cores: Annotated[
        float | None, typer.Option(help="Cores of each broker node; without it, as measured.")
    ] = None,
    rate: Annotated[
        float | None, typer.Option(help="Messages a second: CPU and latency at this rate.")
    ] = None,
    payload: Annotated[float | None, typer.Option(help="Length of bodies in bytes.")] = None,
    price: Annotated[
        float | None, typer.Option(help="Price of a core hour: gives that of a million messages.")
    ] = None,
    mix: Annotated[
        list[str] | None,
        typer.Option(help="TEST_CASE=RATE; repeat it to predict several test cases at once."),
    ] = None,
    form: Annotated[
        Literal["text", "json"], typer.Option("--format", help="Text, or one JSON object per line.")
    ] = "text",
) -> None:
    """Predict what is sustained, and how much CPU a rate needs, from runs at other rates.

    The cost of a message to each role comes from runs in which no role used more than half of its
    CPU; the sustained rate from runs in which a role was full, else it is a lower bound. Exits with
    1 if nothing can be predicted, and says why.

    Examples: `mqperf predict data/runs/capacity-quick --rate 5000`,
    `mqperf predict data/runs/capacity-quick --cores 4 --price 0.04`,
    `mqperf predict data/runs/mix-quick --mix rpc-call=200 --mix notify=500`
    """
    from mqperf_capacity.front.api import predict as predict_from
    from mqperf_capacity.front.api import predict_mix

    if not mix:
        result = predict_from(path, cores=cores, rate=rate, payload=payload, price=price)
    elif (rate, payload, price) == (None, None, None):
        result = predict_mix(path, dict(map(_case, mix)), cores=cores)
    else:
        raise MqperfError("--mix has the rates: omit --rate, --payload and --price")
    if form == "json":
        for name in ("demands", "predictions", "broken"):
            for row in json.loads(getattr(result, name).to_json(orient="records")):
                print_line(console, json.dumps({"table": name, **row}, ensure_ascii=False))
    else:
        print_all(console, result.text)
    if result.refused:
        raise typer.Exit(1)


def _case(text: str) -> tuple[str, float]:
    """Parse a test case and its rate, such as ``notify=500``."""
    name, _, rate = text.partition("=")
    try:
        return name, float(rate)
    except ValueError:
        raise MqperfError(f"--mix {text}: give TEST_CASE=RATE, as in notify=500") from None


COMMAND = Command("predict", predict)
