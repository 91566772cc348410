"""Load generators, one package each."""

from mqperf.errors import LoadError
from mqperf.load import simulator
from mqperf.load.generator import (
    Access,
    Account,
    Command,
    Endpoint,
    Generator,
    Job,
    Kind,
    Member,
    Tool,
    members,
)
from mqperf.plan import Case
from mqperf.registry import Registry

__all__ = [
    "GENERATORS",
    "Access",
    "Account",
    "Command",
    "Endpoint",
    "Generator",
    "Job",
    "Kind",
    "Member",
    "Tool",
    "generator_of",
    "members",
]

GENERATORS = Registry("generators", (simulator.GENERATOR,))


def generator_of(case: Case) -> Generator:
    """The load generator of a recorded case; raises ``LoadError`` when it is not installed."""
    if case.generator not in GENERATORS:
        raise LoadError(
            f"its load generator {case.generator!r} is not known here: install the package that"
            f" adds it; known: {', '.join(GENERATORS)}"
        )
    return GENERATORS[case.generator]
