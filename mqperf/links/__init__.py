"""Links: the network between two roles of a run, made as a plan asks, one backend a module.

mqperf brings no backend yet: on this machine all roles are one host.
"""

from mqperf.links.link import Backend, Laid, choose
from mqperf.registry import Registry

__all__ = ["LINKS", "Backend", "Laid", "choose"]

LINKS: Registry[Backend] = Registry("links", ())
"""The backends; the first that can make a link between the hosts of a run is used."""
