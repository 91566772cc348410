"""Readers of the load generators' own output of a run."""

from pydantic import ValidationError

from mqperf.base.errors import LoadError
from mqperf.base.packages import package_of
from mqperf.base.raw import first_problem
from mqperf.base.registry import Registry
from mqperf.plan.load import GENERATORS, Generator
from mqperf.record import FACTS, Whole
from mqperf.record.streams.stream import ByProcess
from mqperf.study.load import simulator
from mqperf.study.load.reader import Account, LoadReader

__all__ = ["LOAD_READERS", "Account", "LoadReader", "account_of", "generator_of"]

LOAD_READERS = Registry("load_readers", (simulator.READER,))


def account_of(run: Whole, streams: ByProcess) -> Account:
    """Figures from the generator's own output of a run; empty if it has none besides the record."""
    reader = LOAD_READERS.get(run.case.generator)
    return Account() if reader is None else reader.account(run, streams)


def generator_of(run: Whole) -> Generator:
    """The load generator of a whole run.

    Raises ``LoadError``, which names ``run.json``, if it is not installed, and for parameters that
    it does not have.
    """
    case, file = run.case, run.run.path / FACTS
    if case.generator not in GENERATORS:
        raise LoadError(
            f"{file}: its load generator {case.generator!r} is not known here: install"
            f" {package_of(case.generator)}; known: {', '.join(GENERATORS)}"
        )
    generator = GENERATORS[case.generator]
    try:
        generator.resolved(case)
    except ValidationError as error:
        problem = first_problem(error)
        raise LoadError(f"{file}: parameters of {case.generator}: {problem}") from None
    return generator
