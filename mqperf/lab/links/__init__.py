"""Links: the network between two roles of a run, made as a plan asks, by a backend."""

from mqperf.base.registry import Registry
from mqperf.lab.links.link import Backend, Cable, Laid, choose

__all__ = ["LINKS", "Backend", "Cable", "Laid", "choose"]

LINKS: Registry[Backend] = Registry("links")
"""All come with packages; the first that can make a link between the hosts of a run is used."""
