"""Causes planted in real runs, and whether ``mqperf why`` names them first.

    ./noxw -s benchmarks -- diagnosis [REPEATS [CAUSE]...]

Each cause is a plan of its own, on a private RabbitMQ, or ActiveMQ, with the probe ``waits``; the
last plan has no cause, and twelve points.  Printed is in how many of its runs a cause was named
first, alone, and what else was.  It needs root: some causes are quotas, others links between hosts.
"""

import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import mqperf
from mqperf.base import processes
from mqperf.base.errors import MqperfError

REPEATS = 5
SECONDS, WARMUP_S = 6, 2
BURNERS = 8
NOTHING = "nothing"


@dataclass(frozen=True)
class Plant:
    """A cause, the plan's keys that bring it about, and the number of neighbour processes."""

    cause: str
    load: Mapping[str, Any]
    settings: Mapping[str, Any] = field(default_factory=dict)
    more: Mapping[str, Any] = field(default_factory=dict)
    neighbours: int = 0
    system: str = "rabbitmq"


PLANTS = (
    Plant(
        "one queue process full",
        {"delivery": "persistent", "payload_bytes": 3000, "consume_after_s": 7},
        {"policy": {"queue-mode": "lazy"}},
    ),
    Plant("load generator full", {"confirms": 100}, {"client_cores": 0.05}),
    Plant("small prefetch", {"acks": "each", "prefetch": 1, "confirms": 1}),
    Plant("small confirm window", {"confirms": 1}),
    Plant("slow consumer", {"acks": "each", "confirms": 100}, {"server_cores": 0.05}),
    Plant(
        "link full",
        {"payload_bytes": 10_000, "confirms": 200},
        more={"hosts": "laboratory", "link": {"bandwidth_bits_s": 10_000_000}},
    ),
    Plant(
        "packet loss",
        {"confirms": 1_000},
        more={"hosts": "laboratory", "link": {"delay_s": 0.02, "loss_share": 0.05}},
    ),
    Plant(
        "memory or disk alarm",
        {"payload_bytes": 10_000, "acks": "each", "prefetch": 1, "confirms": 1_000},
        {"memory_watermark_mb": 300},
    ),
    Plant("neighbour on the host", {"confirms": 1_000}, neighbours=BURNERS),
    Plant("node full", {"confirms": 100}, {"broker_cores": 0.25}),
    Plant(
        "disk",
        {"delivery": "persistent", "payload_bytes": 5_000, "confirms": 1, "consume_after_s": 7},
    ),
    Plant(
        "garbage collection",
        {
            "generator": "amqp-1.0",
            "payload_bytes": 1_000,
            "warmup_s": 10,  # Java first compiles what it runs often
            "consume_after_s": 15,
        },
        {"java_options": "-XX:+UseSerialGC -Xmn1m"},
        system="activemq",
    ),
    Plant(
        NOTHING,
        {
            "rate_msg_s": [50, 200, 500],
            "delivery": ["transient", "persistent"],
            "acks": ["auto", "each"],
            "confirms": 100,
        },
    ),
)


def main(arguments: list[str]) -> None:
    """Print a line for each cause, or for those on the command line."""
    repeats = int(arguments[0]) if arguments else REPEATS
    chosen, runs, right = arguments[1:], Counter[bool](), Counter[bool]()
    for plant in PLANTS:
        if chosen and plant.cause not in chosen:
            continue
        with tempfile.TemporaryDirectory(prefix="mqperf-diagnosis-") as folder:
            named = Counter(_named(plant, repeats, Path(folder)))
        total, first, sound = named.total(), named[plant.cause], plant.cause == NOTHING
        runs[sound] += total
        right[sound] += first
        instead = ", ".join(f"{name} {n}" for name, n in named.items() if name != plant.cause)
        print(f"{plant.cause}: {first} of {total}; instead: {instead or '-'}", flush=True)
    print(f"named first: {right[False]} of {runs[False]}; sound: {right[True]} of {runs[True]}")


def _named(plant: Plant, repeats: int, runs: Path) -> Iterator[str]:
    """Yield what was named first in each run; if a run failed, the error for all of them."""
    plan = mqperf.new_plan(
        systems={plant.system: {"topologies": ["single"], "settings": dict(plant.settings)}},
        test_cases=["publish"],
        load={
            "generator": "amqp-0-9-1",
            "green_threads": 1,
            "duration_s": SECONDS,
            "warmup_s": WARMUP_S,
            **plant.load,
        },
        repeats=repeats,
        probes=["waits"],
        **plant.more,
    )
    try:
        with _burning(plant.neighbours, runs):
            results = mqperf.run(plan, runs / "runs")
    except MqperfError as error:
        yield from [str(error)] * repeats
        return
    causes = results["causes"]
    for run in results["messages"]["run"]:
        first = causes[causes["run"].eq(run) & causes["cause_rank"].eq(1)]["cause"].unique()
        yield " and ".join(first) or NOTHING


@contextmanager
def _burning(number: int, folder: Path) -> Iterator[None]:
    """Run this number of processes that only compute, within the context."""
    argv, log = [sys.executable, "-c", "while True: pass"], folder / "neighbours.log"
    with ExitStack() as stack:
        for index in range(number):
            label = f"neighbour {index + 1}"
            burner = processes.start(label, argv, env=None, log=log, cwd=None)
            stack.callback(burner.stop, 1.0)
        yield


if __name__ == "__main__":
    main(sys.argv[1:])
