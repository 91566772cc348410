"""Stop: a node is asked to end, as for maintenance, and is started again.

One that takes longer to end than the plan has it down is started as soon as it has ended.
"""

import signal

from mqperf.lab.actions.on_service import on_service

ACTION = on_service("stop", "asked to end (SIGTERM) and started again", signal.SIGTERM)
