"""Verdicts on whole runs by their tables: for searches, and for comparisons to be decided."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mqperf.base.errors import MqperfError
from mqperf.plan import Decision, Hold, Plan, Verdict, compared
from mqperf.record import Run, runs


def judged(hold: Hold, run: Run) -> Verdict:
    """Return whether a whole run meets a condition; no verdict if the run cannot be read."""
    from mqperf.study import tables  # pandas is not loaded before the first run is over
    from mqperf.study.stats.searches import verdict

    try:
        return verdict(tables.of_runs([run]), hold)
    except MqperfError as error:
        return Verdict(None, str(error))


@dataclass(frozen=True, slots=True)
class Deciders:
    """Decides the comparisons of plans by throughput; every whole run is read once."""

    _read: set[Path] = field(default_factory=set)
    _known: dict[Path, dict[str, dict[int, float]]] = field(default_factory=dict)

    def __call__(self, plans: Sequence[Plan], folders: Sequence[Path]) -> Sequence[Decision]:
        """Return the decision on each comparison by the runs in the folders of the plans."""
        from mqperf.study.stats.sequential import decisions  # as above

        known = {
            (side, point): values
            for side, folder in enumerate(folders)
            for point, values in self._throughputs(folder).items()
        }
        pairs = [comparison.points for comparison in compared(plans)]
        rule, first = plans[0].decide, max(plan.first_repeats for plan in plans)
        return decisions(known, pairs, rule.difference if rule else 0.0, first)

    def _throughputs(self, folder: Path) -> dict[str, dict[int, float]]:
        """Return point -> repeat -> throughput of all whole runs that can be read."""
        from mqperf.study import tables  # as above
        from mqperf.study.stats.decided import throughputs

        known = self._known.setdefault(folder, {})
        new = [run for run in runs(folder) if run.status == "done" and run.path not in self._read]
        self._read.update(run.path for run in new)
        for run in new:
            try:
                for point, values in throughputs(tables.of_runs([run])).items():
                    known.setdefault(point, {}).update(values)
            except MqperfError:  # mqperf audit reports the problem
                continue
        return known
