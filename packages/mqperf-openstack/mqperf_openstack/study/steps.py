"""The table ``steps``: the time of a creation, step by step."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mqperf.plan import SHARES
from mqperf.plan.columns import FEW, Column, Table, count, latency, number, share, text
from mqperf.record import Whole
from mqperf.record.streams.stream import Counts, Values
from mqperf.record.streams.telling import tells
from mqperf_openstack.record.steps import StepFacts
from mqperf_openstack.study.rpc_chain import READER, Walked, uncertainty_s, walked

if TYPE_CHECKING:
    from mqperf.study.tables.of_run import Reading

BETWEEN = "between steps"
"""Name of the row for a creation's time that is in no step."""


def rows(run: Whole) -> Iterator[dict[str, Any]]:
    """Yield the rows of a run of a chain, over the creations that were started in its window.

    Raise ``LoadError`` for files of steps that are damaged or of another run.
    """
    steps, walk = walked(run)
    inside = (walk.creations >= run.window[0]) & (walk.creations < run.window[1])
    yield from _rows(steps, Walked(*(values[inside] for values in walk)), uncertainty_s(run))


def _rows(steps: Sequence[StepFacts], walk: Walked, unsure_s: float) -> Iterator[dict[str, Any]]:
    """Yield a row for each step, and one for the time between steps."""
    done = ~np.isnan(walk.finished)
    total_s = (walk.finished - walk.creations)[done]
    took_s = (walk.passed - walk.started)[done]
    stopped_at = _last_begun(walk.started[~done])
    meanwhile = {index for step in steps for index in step.meanwhile}
    in_turn = [index for index in range(len(steps)) if index not in meanwhile]
    for index, step in enumerate(steps):
        part = took_s[:, index].sum() / total_s.sum() if index in in_turn and done.any() else None
        yield {
            "step_number": index + 1,
            "step": step.step,
            "step_kind": step.kind,
            "sender": step.sender,
            "receiver": step.receiver,
            "round_trips": step.round_trips,
            "errors": int((stopped_at == index).sum()),
            "latency_uncertainty_s": unsure_s if step.moves and step.round_trips else 0.0,
            **_figures(took_s[:, index], part),
        }
    between_s = total_s - took_s[:, in_turn].sum(axis=1)
    part = between_s.sum() / total_s.sum() if done.any() else None
    yield {"step_number": len(steps) + 1, "step": BETWEEN, **_figures(between_s, part)}


def _figures(took_s: Values, part: float | None) -> dict[str, Any]:
    """Return the figures of a step's times; NaN, of a step missing in a torn record, is left out.

    ``part`` is None for a step sent while another is handled: the other's share includes it.
    """
    seen = took_s[~np.isnan(took_s)]
    row: dict[str, Any] = {"samples": len(seen)}
    if len(seen):
        level = SHARES["p95"]
        slow = np.quantile(seen, level) if tells(len(seen), level) else None
        row |= {"latency_mean_s": seen.mean(), "latency_p95_s": slow}
        row["creation_share"] = part
    return row


def _last_begun(started: Values) -> Counts:
    """Return the index of the last step that each creation began."""
    begun = ~np.isnan(started)
    last: Counts = started.shape[1] - 1 - np.argmax(begun[:, ::-1], axis=1)
    return last[begun.any(axis=1)]


def _rows_of_reading(reading: "Reading") -> Iterator[dict[str, Any]]:
    return rows(reading.run) if reading.run.case.generator == READER.name else iter(())


STEPS = Table(
    "steps",
    "a step of what the test case does, in a run",
    (
        number("step_number", "Its place in the chain, from 1.", "no."),
        text(
            "step",
            "Name of the step; the row *between steps* has what is in none: the processes' own"
            " time.",
            "step",
        ),
        text("step_kind", "call, cast or fan-out.", "kind"),
        text("sender", "Service that sends it.", "from"),
        text("receiver", "Service that handles it.", "to"),
        Column(
            "round_trips",
            "float64",
            "How often a creation waits for it to cross between control plane and agents and back:"
            " 1 for a CALL, 0.5 for what goes one way only, 0 for what does not cross, or is not"
            " awaited.",
            "round trips",
            check="not negative",
        ),
        count("samples", "Creations that took it: those started in the window, finished."),
        latency("latency_mean_s", "From its sending until the chain went on.", ""),
        latency("latency_p95_s", f"95th percentile of the same. {FEW}", ""),
        latency(
            "latency_uncertainty_s",
            "By how much the clocks of two hosts may make it wrong, either way; 0 where one clock"
            " took both instants.",
            "",
        ),
        share(
            "creation_share",
            "Part of the time of all creations that it took; empty where another step's handling"
            " holds it.",
            "share",
        ),
        count("errors", "Creations started in the window that got no further."),
    ),
    rows=_rows_of_reading,
)
