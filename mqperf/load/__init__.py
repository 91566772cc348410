"""Load generators, one package each."""

from mqperf.load import simulator
from mqperf.load.generator import Access, Account, Command, Endpoint, Generator, Job, Kind, Tool
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
    "Tool",
]

GENERATORS = Registry("generators", (simulator.GENERATOR,))
