"""A quick measurement: the plan made of its options, and the verdicts on its one run."""

import json
import time
from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any

from rich.console import Console

from mqperf.base.errors import MqperfError
from mqperf.base.redaction import without_passwords
from mqperf.base.terminal import print_all, print_line, print_lines
from mqperf.front.running import measured
from mqperf.lab.runner import Job
from mqperf.lab.systems.in_plans import problems_of
from mqperf.plan.file import parse_plan
from mqperf_projects.front.durations import seconds
from mqperf_projects.front.thresholds import Doubt, Threshold, Verdict, as_junit, judged

WARMUP_S = 2


def plan_text(
    url: str | None, queue: str, duration: str, load: Mapping[str, int | float | None]
) -> str:
    """Return the YAML of a plan: one run of PUBLISH at a given broker, or a private one.

    Keys of ``load`` that are None are left out.  Raise ``MqperfError`` for a duration that is not a
    whole number of seconds.
    """
    length_s = seconds(duration, "--for")
    if length_s != round(length_s) or length_s < 1:
        raise MqperfError(f"--for {duration}: expected whole seconds")
    rate = load["rate_msg_s"]
    if rate is not None and not isfinite(rate):
        raise MqperfError("--rate: expected a number of messages a second")
    offered = "as fast as it goes" if rate is None else f"{rate:,g} msg/s"
    given = {name: value for name, value in load.items() if value is not None}
    keys = {name: int(value) if value == int(value) else value for name, value in given.items()}
    settings = ["    settings:", "      nodes: [broker]", f"      urls: [{json.dumps(url)}]"]
    return "\n".join(
        [
            f"title: {json.dumps(f'{offered} for {round(length_s)} s')}",
            "systems:",
            "  rabbitmq:",
            "    topologies: [single]",
            f"    queues: [{queue}]",
            *(settings if url else ()),
            "test_cases: [publish]",
            "load:",
            "  generator: amqp-0-9-1",
            *(f"  {name}: {value}" for name, value in keys.items()),
            f"  duration_s: {round(length_s)}",
            f"  warmup_s: {WARMUP_S}",
            "",
        ]
    )


def usual_folder() -> Path:
    """Return the folder of a run, named by the time, so that each run has a new one."""
    return Path("data/runs/quick") / time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())


def measure(
    text: str, thresholds: Sequence[Threshold], runs: Path, console: Console, junit: Path | None
) -> bool:
    """Run the plan, print verdicts and first screen, and write the verdicts as JUnit XML.

    Return whether all thresholds hold.  Raise ``MqperfError`` where nothing can be measured; the
    XML has that error then.
    """
    job = Job(parse_plan(text, Path("quick.yaml"), problems_of), text, runs)
    began = time.monotonic()
    try:
        [outcome] = measured([job], console, None)
    except MqperfError as error:
        _write(junit, [], [], without_passwords(str(error)), began)
        raise
    failure = "; ".join(reason for _, reason in outcome.failed)
    figures, doubts = _read(runs)
    verdicts = judged(thresholds, figures, doubts)
    _write(junit, verdicts, doubts, failure, began)
    if failure:
        print_lines(console, f"FAIL  the run failed: {failure}")
    for verdict in verdicts:
        print_line(console, verdict.line)
    print_line(console, "")
    from mqperf.pages.questions.first_screen import of_folder

    print_all(console, of_folder(runs, console.width if console.is_terminal else None))
    return not failure and all(verdict.holds for verdict in verdicts)


def _write(
    file: Path | None,
    verdicts: Sequence[Verdict],
    doubts: Sequence[Doubt],
    failure: str,
    began: float,
) -> None:
    if file is not None:
        xml = as_junit(verdicts, doubts, failure, time.monotonic() - began)
        file.write_text(xml, encoding="utf-8")


def _read(runs: Path) -> tuple[Mapping[str, Any], Sequence[Doubt]]:
    """Return the figures of the one run, by column, and its doubts; no figures if it failed."""
    from mqperf.front.api import read  # with pandas, which is not loaded before the run is over

    results = read(runs)
    figures: dict[str, Any] = {}
    for name in ("points", "messages"):
        for row in results[name].to_dict("records"):
            figures |= {str(column): value for column, value in row.items()}
    if figures.get("sent"):
        figures["lost_share"] = figures["lost"] / figures["sent"]
    doubts = results["doubts"]
    return figures, list(zip(doubts["kind"], doubts["text"], strict=True))
