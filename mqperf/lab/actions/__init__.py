"""Actions: what disturbs a system under test on a timetable, one module each."""

from mqperf.base.registry import Registry
from mqperf.lab.actions import black_hole, disconnect, freeze, impair, kill, partition, script, stop
from mqperf.lab.actions.action import Action, NoParameters, Target, Told

__all__ = ["ACTIONS", "Action", "NoParameters", "Target", "Told"]

ACTIONS = Registry(
    "actions",
    (
        freeze.ACTION,
        kill.ACTION,
        stop.ACTION,
        partition.ACTION,
        disconnect.ACTION,
        black_hole.ACTION,
        impair.ACTION,
        script.ACTION,
    ),
)
