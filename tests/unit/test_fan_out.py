"""Messages of a fan-out: each is to be delivered to every server of a topic."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mqperf.plan import Case
from mqperf.plan.load import GENERATORS
from mqperf.record.streams.stream import Instants
from mqperf.study.tables.accounting import accounted
from mqperf.study.tables.streams import Streams


def case(targets: str = "shared", test_case: str = "rpc-fanout") -> Case:
    return Case.model_validate(
        {
            "system": "rabbitmq",
            "topology": "cmsm",
            "queues": "declared",
            "test_case": test_case,
            "green_threads": 1,
            "processes": 2,
            "duration_s": 1,
            "parameters": {"targets": targets},
        }
    )


def counts(*received: list[float], sent: tuple[float, ...] = (1.0, 2.0, 3.0)) -> dict[str, int]:
    """The counts of these messages, each identified by when it was sent."""

    def instants(starts: list[float]) -> Instants:
        return Instants(np.array([[start, start + 0.1] for start in starts]).reshape(-1, 2))

    clients = {"client-1": {"sent": Instants(np.array([[start, start] for start in sent]))}}
    servers = {f"server-{n}": {"received": instants(one)} for n, one in enumerate(received, 1)}
    processes = {**clients, **servers}
    run: Any = SimpleNamespace(case=case(), run=SimpleNamespace(path=Path("run")))
    return accounted(run, Streams(processes, processes))


def test_deliveries_are_messages_times_servers() -> None:
    """The servers share a topic; otherwise, and in other test cases, there is one delivery."""
    copies = GENERATORS["simulator"].copies
    assert copies(case()) == 2
    assert copies(case(targets="own")) == copies(case(test_case="rpc-cast")) == 1
    found = counts([1, 2, 3], [3, 2, 1])
    assert found["deliveries"] == 6
    assert (found["lost"], found["duplicates"], found["foreign"]) == (0, 0, 0)


@pytest.mark.parametrize(
    ("received", "lost", "duplicates", "foreign"),
    [
        (([1, 2, 3], [1, 2]), 1, 0, 0),
        (([1, 2, 3], []), 3, 0, 0),
        (([1, 2, 3, 3], [1, 2]), 1, 1, 0),
        (([1, 2, 3, 9], [1, 2, 3, 9]), 0, 0, 2),
    ],
)
def test_each_server_is_checked_by_itself(
    received: tuple[list[float], ...], lost: int, duplicates: int, foreign: int
) -> None:
    """A loss at one server and a duplicate at another do not cancel out."""
    found = counts(*received)
    assert (found["lost"], found["duplicates"], found["foreign"]) == (lost, duplicates, foreign)
