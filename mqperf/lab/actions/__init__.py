"""Actions: what disturbs a system under test on a timetable, one module each."""

from mqperf.base.registry import Registry
from mqperf.lab.actions import freeze, kill, stop
from mqperf.lab.actions.action import Action, ActionFacts, NoParameters, Target

__all__ = ["ACTIONS", "Action", "ActionFacts", "NoParameters", "Target"]

ACTIONS = Registry("actions", (freeze.ACTION, kill.ACTION, stop.ACTION))
