"""Live views of a running sweep: for a terminal, a notebook cell and views of packages.

They are for monitoring only: once a second they read what the processes of a run write anyway,
and no figure of a report comes from here.
"""

from mqperf.front.live import cell, panel
from mqperf.front.live.view import View, served
from mqperf.lab.pulse import Beat, Ended, Pulse, Scene

__all__ = ["Beat", "Ended", "Pulse", "Scene", "View", "cell", "panel", "served"]
