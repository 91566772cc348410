"""Actions: disturbances of a system under test, at the times that a plan gives."""

from mqperf.base.registry import Registry
from mqperf.lab.actions import freeze
from mqperf.lab.actions.action import Action, ActionFacts, Target
from mqperf.lab.actions.on_service import KILL, STOP

__all__ = ["ACTIONS", "Action", "ActionFacts", "Target"]

ACTIONS = Registry("actions", (freeze.ACTION, KILL, STOP))
