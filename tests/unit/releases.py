"""What a release promises, as lines that later releases still have, and figures that they repeat.

    python tests/unit/releases.py 1.0    # record this version as a release, below tests/releases

See docs/reference/stability.md.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import samples

import mqperf
from mqperf.plan.columns import COLUMNS, TABLES
from mqperf_projects.front import completion
from mqperf_projects.front.schema import plan_schema

ROOT = Path(__file__).parents[2]
RELEASES = ROOT / "tests/releases"
SAMPLES = ROOT / "data/samples"
OF_MESSAGES = ["sent", "received", "lost", "errors", "throughput_msg_s", "send_rate_msg_s"]
OF_LATENCY = ["latency_mean_s", "latency_p50_s", "latency_p99_s", "latency_max_s"]


def plan_keys() -> Iterator[str]:
    """Every key of a plan by its path, and every word that it may have."""
    schema = plan_schema()
    yield from dict.fromkeys(_keys(schema, schema, ""))


def _keys(node: Any, schema: Any, path: str) -> Iterator[str]:  # noqa: ANN401 (JSON)
    if reference := node.get("$ref"):
        there = reduce(getitem, reference.removeprefix("#/").split("/"), schema)
        yield from _keys(there, schema, path)
    for word in node.get("enum", ()):
        yield f"{path}: {word}"
    for name, value in node.get("properties", {}).items():
        yield f"{path}.{name}".lstrip(".")
        yield from _keys(value, schema, f"{path}.{name}".lstrip("."))
    for name in ("anyOf", "oneOf", "allOf"):
        for each in node.get(name, ()):
            yield from _keys(each, schema, path)
    for name in ("items", "additionalProperties", "then", "else"):
        if isinstance(each := node.get(name), dict):
            yield from _keys(each, schema, path)


def columns() -> Iterator[str]:
    """Every column of every table, with its type and unit."""
    for table in TABLES.values():
        for name in table.columns:
            column = COLUMNS[name]
            yield f"{table.name}.{name}: {column.dtype}, {column.unit or 'no unit'}"


def commands() -> Iterator[str]:
    """Every command with its options, and every word that one of them may have."""
    for name, completed in completion.commands().items():
        command = f"mqperf {name}".strip()
        yield command
        yield from (f"{command} {option}" for option in completed.options)
        for option, words in completed.choices.items():
            yield from (f"{command} {option} {word}" for word in words)


def python_names() -> Iterator[str]:
    """Every public name of ``mqperf``, and every public member of results and of a comparison."""
    yield from (f"mqperf.{name}" for name in mqperf.__all__)
    for of in (mqperf.Results, mqperf.Comparison):
        yield from (f"mqperf.{of.__name__}.{name}" for name in dir(of) if not name.startswith("_"))


def figures() -> Iterator[str]:
    """The figures of every recorded run, with twelve digits."""
    for folder in sorted(file.parent for file in SAMPLES.glob("*/plan.yaml")):
        read = samples.read(folder)
        of_latency = read["latency"].drop_duplicates("run")[["run", *OF_LATENCY]]
        both = read["messages"][["run", *OF_MESSAGES]].merge(of_latency, on="run", how="left")
        text = both.assign(run=f"{folder.name}/" + both["run"]).to_csv(
            index=False, float_format="%.12g"
        )
        yield from text.splitlines()


PROMISED: Mapping[str, Callable[[], Iterator[str]]] = {
    "plan-keys": plan_keys,
    "columns": columns,
    "commands": commands,
    "python": python_names,
    "figures": figures,
}
"""What is promised, by the name of the file that holds it in the folder of a release."""


def record(release: Path) -> None:
    """Write the folder of a release."""
    release.mkdir(parents=True)
    for name, lines in PROMISED.items():
        (release / f"{name}.txt").write_text("".join(f"{line}\n" for line in sorted({*lines()})))


if __name__ == "__main__":
    record(RELEASES / sys.argv[1])
