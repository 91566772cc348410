"""What a sweep is like while it runs: for a terminal, a notebook cell and views of packages.

Everything here is for looking on.  It reads what the processes of a run write anyway, once a
second, and no figure of a report comes from here.
"""

from mqperf.front.live import cell, panel
from mqperf.front.live.view import View, served
from mqperf.lab.pulse import Beat, Ended, Pulse, Scene

__all__ = ["Beat", "Ended", "Pulse", "Scene", "View", "cell", "panel", "served"]
