"""Fail if work that people wait for takes more CPU than at the last release.

    ./noxw -s benchmarks -- guard [--record] [WORD ...]

All works, or those with one of the words in their names, run in turns with two yardsticks: a fixed
loop of Python and numpy, and the import of pandas, for commands that import much.  Other load on
the machine only adds CPU, so the lower quartile of each is taken; in its yardstick it may exceed
that of guard.yaml, which ``--record`` writes, by a tenth.
"""

import statistics
import sys
import tempfile
from array import array
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import spent
import yaml

ROUNDS = 5
GROWN = 1.1
RECORDED = Path(__file__).with_suffix(".yaml")
MQPERF = str(Path(sys.executable).with_name("mqperf"))
RUNS, MESSAGES = 100, 5_000_000
LOOP, IMPORTS = "loop", "import of pandas"

DO = "--do"
"""Option before the name of a step, which this script then runs itself."""

Ratios = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Work:
    """A command, and how often it runs in each round: a single short run tells little.

    ``unit`` is the name of its yardstick.
    """

    command: tuple[str, ...]
    times: int = 1
    unit: str = LOOP

    def samples(self) -> list[float]:
        """Run the command, and return the seconds of CPU of each run."""
        return [spent.of(self.command) for _ in range(self.times)]


def main(arguments: list[str]) -> None:
    """Measure, and compare with recorded values or record them."""
    if arguments[:1] == [DO]:
        STEPS[arguments[1]]()
        return
    words = [argument for argument in arguments if argument != "--record"]
    recorded = yaml.safe_load(RECORDED.read_text(encoding="utf-8")) if RECORDED.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        ratios = measured(Path(folder), words)
    for name, ratio in ratios.items():
        print(f"{name:22} {ratio:7.3f} yardsticks, recorded {recorded.get(name, 'none')}")
    if words == arguments:
        sys.exit("\n".join(grown(ratios, recorded)) or None)
    rounded = {name: round(ratio, 3) for name, ratio in ratios.items()}
    RECORDED.write_text(yaml.safe_dump(recorded | rounded, sort_keys=False), encoding="utf-8")


def grown(ratios: Ratios, recorded: Ratios) -> Iterator[str]:
    """Yield a sentence for each work that takes over a tenth more than recorded, or is new."""
    for name, ratio in ratios.items():
        if name not in recorded:
            yield f"{name} is not in {RECORDED.name}: write it there with --record"
        elif ratio > GROWN * recorded[name]:
            percent = 100 * (ratio / recorded[name] - 1)
            yield f"{name} takes {percent:.0f} % more CPU than recorded: see what made it slower"


def measured(folder: Path, words: list[str]) -> dict[str, float]:
    """Return, in yardsticks, the CPU of works with one of the words in their names, or of all."""
    chosen = {
        name: work
        for name, work in works(folder).items()
        if not words or any(word in name for word in words)
    }
    if not chosen:
        sys.exit(f"nothing is called {' or '.join(words)}; there are: {', '.join(works(folder))}")
    if any("reading" in name for name in chosen):
        from synthetic import write_runs

        write_runs(folder / "runs", RUNS)
    chosen |= YARDSTICKS
    for work in chosen.values():  # once, to compile what is imported
        spent.of(work.command)
    cpu_s: dict[str, list[float]] = {name: [] for name in chosen}
    for _ in range(ROUNDS):
        for name, work in chosen.items():
            cpu_s[name] += work.samples()
    lower = {name: statistics.quantiles(samples, n=4)[0] for name, samples in cpu_s.items()}
    units = {name: lower.pop(name) for name in YARDSTICKS}
    return {name: quartile / units[chosen[name].unit] for name, quartile in lower.items()}


def works(folder: Path) -> dict[str, Work]:
    """Return the works by name; the folder has the runs, and gets the report."""
    reading = (sys.executable, "-P", str(Path(__file__).with_name("reading.py")), "--read")
    report = (MQPERF, "report", "data/samples/runs", "--no-notebooks", "--out")
    return {
        "mqperf --help": Work((MQPERF, "--help"), 5, IMPORTS),
        "recording messages": Work((sys.executable, __file__, DO, "messages")),
        f"reading {RUNS} runs": Work((*reading, str(folder / "runs"))),
        "report of the samples": Work((*report, str(folder / "report")), unit=IMPORTS),
    }


def yardstick() -> None:
    """Do a fixed amount of look-ups, texts and small objects of Python, and arrays of numpy."""
    values = np.random.default_rng(0).random(100_000)
    sums: dict[str, float] = {}
    for number in range(600_000):
        key = f"key {number % 1000}"
        sums[key] = sums.get(key, 0.0) + number
    for _ in range(60):
        np.cumsum(np.sort(values))


def messages() -> None:
    """Add messages to the simulator's recorder by its ``push``, as in every load."""
    from mqperf.onhost.load.simulator.recorder import Recorder

    recorder = Recorder({}, [])
    recorder.streams = {"received": (array("d"), array("d"))}
    push = recorder.push("server", [])
    message = (0, 1.0, 2.0, 3.0, 4.0)
    for _ in range(MESSAGES):
        push(message)


STEPS: Mapping[str, Callable[[], None]] = {LOOP: yardstick, "messages": messages}

YARDSTICKS: Mapping[str, Work] = {
    LOOP: Work((sys.executable, __file__, DO, LOOP), 3),
    IMPORTS: Work((sys.executable, "-I", "-c", "import pandas"), 3),
}


if __name__ == "__main__":
    main(sys.argv[1:])
