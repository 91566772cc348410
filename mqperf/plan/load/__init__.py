"""Load generators as plans know them: the models of their parameters, one module each."""

from mqperf.base.registry import Registry
from mqperf.plan.load import command, simulator
from mqperf.plan.load.generator import Generator, Kind, Member, clients, pairs

__all__ = ["GENERATORS", "Generator", "Kind", "Member", "clients", "pairs"]

_KNOWN = (simulator.GENERATOR, command.GENERATOR)

GENERATORS = Registry("generators", _KNOWN)
