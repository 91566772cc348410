"""Limits that are not CPU, planted in real runs, and whether ``mqperf predict`` sees them.

    ./noxw -s benchmarks -- refusing [LIMIT...]

Each limit has a plan with three low rates and one that is beyond the limit.  CPU would allow more,
so a prediction from CPU alone is too high: it must be refused, and the assumption that does not
hold be named.  Two more plans have quotas of CPU, for which predictions must hold.  It needs root,
for links and quotas, and Qpid Dispatch for the credit; it takes about three minutes for each.
"""

import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import mqperf
import mqperf_capacity
from mqperf.base.errors import MqperfError
from mqperf_capacity.study.predictions import Predicted

REFUSED, HELD, WRONG = "refused", "held", "wrong"
REPEATS = 2


@dataclass(frozen=True)
class Planted:
    """A limit, the plan's keys that bring it about, and the ``expected`` verdict."""

    limit: str
    rates: list[float]
    load: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    link: Mapping[str, Any] = field(default_factory=dict)
    systems: Mapping[str, Any] = field(default_factory=dict)
    expected: str = REFUSED


PLANTED = (
    Planted(
        "bandwidth of a link",
        [20, 40, 60, 1_000],
        {"payload_bytes": 10_000, "confirms": 200},
        link={"bandwidth_bits_s": 10_000_000},
    ),
    Planted(
        "packet loss",
        [20, 50, 100, 20_000],
        {"payload_bytes": 1_000, "confirms": 1_000},
        link={"delay_s": 0.02, "loss_share": 0.05},
    ),
    Planted(
        "prefetch",
        [10, 20, 40, 1_000],
        {"acks": "each", "prefetch": 1},
        link={"between": ["server", "broker"], "delay_s": 0.005},
    ),
    Planted("window of confirms", [10, 20, 40, 1_000], {"confirms": 1}, link={"delay_s": 0.005}),
    Planted(
        "credit of a receiver",
        [10, 20, 40, 1_000],  # which a router passes on to clients
        {"generator": "amqp-1.0", "credit": 1},
        link={"between": ["server", "broker"], "delay_s": 0.005},
        systems={
            "qpid-dispatch": {
                "topologies": ["standalone"],
                "queues": ["routed"],
                "settings": {"program": shutil.which("qdrouterd") or "qdrouterd"},
            }
        },
    ),
    Planted(
        "disk",
        [20, 50, 100, 20_000],
        {"delivery": "persistent", "payload_bytes": 5_000, "confirms": 1},
    ),
    Planted(
        "memory alarm",
        [50, 100, 200, 20_000],
        {"payload_bytes": 10_000, "acks": "each", "prefetch": 1, "confirms": 1_000},
        {"memory_watermark_mb": 300},
    ),
    Planted(
        "one queue process",
        [50, 100, 200, 60_000],
        {"delivery": "persistent", "payload_bytes": 3_000, "consume_after_s": 7},
        {"policy": {"queue-mode": "lazy"}},
    ),
    Planted(
        "slow consumer",
        [50, 100, 200, 8_000],
        {"acks": "each", "prefetch": 50},
        link={"between": ["server", "broker"], "delay_s": 0.02},
    ),
    Planted(
        "flow control",
        [20, 50, 100, 20_000],
        {"delivery": "persistent", "payload_bytes": 20_000, "consume_after_s": 7},
        {"policy": {"queue-mode": "lazy"}},
    ),
    Planted("quota of brokers", [100, 200, 400, 20_000], {}, {"broker_cores": 0.25}, expected=HELD),
    Planted(
        "quota of clients",
        [100, 200, 400, 100_000],
        {"confirms": 1_000},
        {"client_cores": 0.2},
        expected=HELD,
    ),
)


def main(arguments: list[str]) -> None:
    """Print a line for each limit, and how many had the expected verdict."""
    chosen = [planted for planted in PLANTED if not arguments or planted.limit in arguments]
    right: Counter[bool] = Counter()
    for planted in chosen:
        with tempfile.TemporaryDirectory(prefix="mqperf-refusing-") as folder:
            try:
                verdict, reason = _verdict(planted, Path(folder) / "runs")
            except MqperfError as error:
                verdict, reason = WRONG, str(error)
        right[verdict == planted.expected] += 1
        print(f"{planted.limit}: {verdict}; {reason}", flush=True)
    print(f"as expected: {right[True]} of {right.total()}")


def _verdict(planted: Planted, folder: Path) -> tuple[str, str]:
    """Measure a plan and predict from it; return the verdict on the prediction, and its reason."""
    rabbitmq = {"rabbitmq": {"topologies": ["single"], "settings": dict(planted.settings)}}
    plan = mqperf.new_plan(
        systems=dict(planted.systems) or rabbitmq,
        test_cases=["publish"],
        load={
            "generator": "amqp-0-9-1",
            "green_threads": 1,
            "rate_msg_s": planted.rates,
            "duration_s": 8,
            "warmup_s": 2,
            **planted.load,
        },
        repeats=REPEATS,
        **({"hosts": "laboratory", "link": dict(planted.link)} if planted.link else {}),
    )
    measured = mqperf.run(plan, folder)["messages"]["throughput_msg_s"].max()
    prediction = mqperf_capacity.predict(folder)
    [result] = [each for each in prediction.results if isinstance(each, Predicted)]
    throughput = f"{measured:,.0f} msg/sec came through"
    if result.refused is not None:
        because = [f"{row['assumption']}: {row['because']}" for row in result.broken]
        return REFUSED, f"{throughput}; {'; '.join(because) or result.refused}"
    row = result.together
    low, high = row["full_msg_s_low"], row["full_msg_s_high"]
    reason = f"{throughput}, {low:,.0f} to {high:,.0f} were predicted ({row['full_is']})"
    return (HELD if low <= measured <= high else WRONG), reason


if __name__ == "__main__":
    main(sys.argv[1:])
