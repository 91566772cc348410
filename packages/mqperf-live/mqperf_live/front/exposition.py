"""The text format of Prometheus for metrics, version 0.0.4."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

TYPE = "text/plain; version=0.0.4; charset=utf-8"
"""Its media type over HTTP."""

ESCAPED = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
"""Escapes of the value of a label, which may be any text."""

Kind = Literal["gauge", "summary"]


@dataclass(frozen=True, slots=True)
class Sample:
    """A value and its labels; ``suffix`` marks the count and the sum of a summary."""

    value: float
    labels: Mapping[str, str]
    suffix: Literal["", "_count", "_sum"] = ""


@dataclass(frozen=True, slots=True)
class Metric:
    """Samples of one name; ``about`` is the sentence of its HELP line."""

    name: str
    kind: Kind
    about: str
    samples: Sequence[Sample]


def text(metrics: Iterable[Metric]) -> str:
    """Return all metrics with samples: lines for HELP, TYPE and every sample."""
    return "".join(f"{line}\n" for metric in metrics if metric.samples for line in _lines(metric))


def _lines(metric: Metric) -> Iterator[str]:
    yield f"# HELP {metric.name} {metric.about}"
    yield f"# TYPE {metric.name} {metric.kind}"
    for sample in metric.samples:
        labels = ",".join(
            f'{name}="{value.translate(ESCAPED)}"' for name, value in sample.labels.items()
        )
        yield f"{metric.name}{sample.suffix}{{{labels}}} {sample.value!r}"
