"""Actions: what disturbs a system under test on a timetable, one module each."""

from mqperf.actions import freeze
from mqperf.actions.action import Action
from mqperf.registry import Registry

__all__ = ["ACTIONS", "Action"]

ACTIONS = Registry("actions", (freeze.ACTION,))
