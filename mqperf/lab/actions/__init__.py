"""Actions: what disturbs a system under test on a timetable, one module each."""

from mqperf.base.registry import Registry
from mqperf.lab.actions import freeze, kill, stop
from mqperf.lab.actions.action import Action, ActionFacts, Target

__all__ = ["ACTIONS", "Action", "ActionFacts", "Target"]

ACTIONS = Registry("actions", (freeze.ACTION, kill.ACTION, stop.ACTION))
