"""Links: emulated networks between two roles of a run, as a plan specifies, by backends."""

from mqperf.base.registry import Registry
from mqperf.lab.links.link import Backend, Cable, Laid, choose

__all__ = ["LINKS", "Backend", "Cable", "Laid", "choose"]

LINKS: Registry[Backend] = Registry("links")
"""Backends of packages; the first that can create a link between the hosts of a run is used."""
