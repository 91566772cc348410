"""The runner: a trial measures one case, a sweep the pending cases of a plan."""

from mqperf.lab.runner.gauge import Gauge, Reading
from mqperf.lab.runner.observer import Silent
from mqperf.lab.runner.plans import Job, Judges, Outcome, sweep, sweep_all

__all__ = ["Gauge", "Job", "Judges", "Outcome", "Reading", "Silent", "sweep", "sweep_all"]
