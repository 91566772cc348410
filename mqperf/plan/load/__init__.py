"""Load generators as plans know them: the models of their parameters, one module each."""

from pydantic import ValidationError

from mqperf.base.errors import LoadError
from mqperf.base.packages import package_of
from mqperf.base.raw import first_problem
from mqperf.base.registry import Registry
from mqperf.plan.load import amqp_0_9_1, amqp_1_0, command, simulator
from mqperf.plan.load.generator import Generator, Kind, Member, clients, pairs
from mqperf.record import FACTS, Whole

__all__ = ["GENERATORS", "Generator", "Kind", "Member", "clients", "generator_of", "pairs"]

_KNOWN = (simulator.GENERATOR, amqp_0_9_1.GENERATOR, command.GENERATOR, amqp_1_0.GENERATOR)

GENERATORS = Registry("generators", _KNOWN)


def generator_of(run: Whole) -> Generator:
    """The load generator of a whole run.

    Raises ``LoadError``, which names ``run.json``, when it is not installed here, and for
    parameters that it does not have.
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
