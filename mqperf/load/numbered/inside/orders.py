"""What one process is told to do: a JSON file in the control folder, which may hold a password."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from mqperf.load.numbered.inside.lines import Broker


@dataclass(frozen=True, slots=True)
class Orders:
    """What every process is told, whatever its generator tells it more.

    ``run`` is in every stamp, and tells the run from others.
    """

    label: str
    kind: Literal["client", "server"]
    test_case: str
    run: int
    control: Path
    out: Path
    broker: Broker
    load_s: float
    timeout_s: float


@dataclass(frozen=True, slots=True)
class OfThreads(Orders):
    """What a process of so many threads is told; ``all_threads`` is how many all processes have.

    ``rate`` is that of one thread; None is as fast as it can.  With ``ramp_to`` it changes evenly,
    to that at the end of the load.
    """

    threads_per_process: int
    all_threads: int
    rate: float | None
    ramp_to: float | None
    payload_bytes: int

    def sender(self, number: int) -> str:
        """The name of a thread: ``client-1.2``."""
        process, thread = divmod(number, self.threads_per_process)
        return f"client-{process + 1}.{thread + 1}"


def told(file: Path, broker: Callable[..., Broker] = Broker) -> dict[str, Any]:
    """What a file says, with what all are told made ready, its broker by ``broker``."""
    found: dict[str, Any] = json.loads(file.read_text())
    found["control"], found["out"] = Path(found["control"]), Path(found["out"])
    found["broker"] = broker(**found["broker"])
    return found
