"""Kill: a node ends at once, as when its machine loses its power, and is started again."""

import signal

from mqperf.lab.actions.on_service import on_service

ACTION = on_service("kill", "killed (SIGKILL) and started again", signal.SIGKILL)
