"""Networks of routers as files: what describes one, and what is written to deploy it by hand.

The command ``mqperf topology`` is this room; runs of plans need none of it.
"""

from mqperf.front.network_files.checking import check
from mqperf.front.network_files.reading import read
from mqperf.front.network_files.writing import write

__all__ = ["check", "read", "write"]
