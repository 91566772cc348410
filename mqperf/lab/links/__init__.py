"""Links: the network between two roles of a run, made as a plan asks, one backend a module."""

from mqperf.base.registry import Registry
from mqperf.lab.links import relay
from mqperf.lab.links.link import Backend, Cable, Laid, choose

__all__ = ["LINKS", "Backend", "Cable", "Laid", "choose"]

LINKS = Registry("links", (relay.BACKEND,))
"""The backends; the first that can make a link between the hosts of a run is used."""
