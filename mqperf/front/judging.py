"""Who judges the runs of a search: the tables of each, once it is whole."""

from mqperf.base.errors import MqperfError
from mqperf.plan import Hold, Verdict
from mqperf.record import Run


def judged(hold: Hold, run: Run) -> Verdict:
    """Whether a whole run holds what is asked; it cannot be judged where it cannot be read."""
    from mqperf.study import tables  # pandas is not loaded before the first run is over
    from mqperf.study.stats.searches import verdict

    try:
        return verdict(tables.of_runs([run]), hold)
    except MqperfError as error:
        return Verdict(None, str(error))
