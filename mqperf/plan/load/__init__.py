"""Load generators from the view of plans: the models of their parameters, one module each."""

from mqperf.base.registry import Registry
from mqperf.plan.load import simulator
from mqperf.plan.load.generator import Generator, Kind, Member, clients, pairs

__all__ = ["GENERATORS", "Generator", "Kind", "Member", "clients", "pairs"]

GENERATORS = Registry("generators", (simulator.GENERATOR,))
