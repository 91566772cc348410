"""Load generators as plans know them: the models of their parameters, one module each."""

from mqperf.base.errors import LoadError
from mqperf.base.registry import Registry
from mqperf.plan import Case
from mqperf.plan.load import amqp_0_9_1, amqp_1_0, command, compute_nodes, rpc_chain, simulator
from mqperf.plan.load.generator import Generator, Kind, Member, clients, pairs

__all__ = ["GENERATORS", "Generator", "Kind", "Member", "clients", "generator_of", "pairs"]

_KNOWN = (
    simulator.GENERATOR,
    amqp_0_9_1.GENERATOR,
    rpc_chain.GENERATOR,
    command.GENERATOR,
    amqp_1_0.GENERATOR,
    compute_nodes.GENERATOR,
)

GENERATORS = Registry("generators", _KNOWN)


def generator_of(case: Case) -> Generator:
    """The load generator of a recorded case; raises ``LoadError`` when it is not installed."""
    if case.generator not in GENERATORS:
        raise LoadError(
            f"its load generator {case.generator!r} is not known here: install the package that"
            f" adds it; known: {', '.join(GENERATORS)}"
        )
    return GENERATORS[case.generator]
