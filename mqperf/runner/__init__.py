"""The runner: one trial of a case, a sweep of cases, and the plans whose cases are pending."""

from mqperf.runner.gauge import Gauge, Reading
from mqperf.runner.observer import Observer, Silent
from mqperf.runner.plans import Job, Outcome, sweep, sweep_all

__all__ = ["Gauge", "Job", "Observer", "Outcome", "Reading", "Silent", "sweep", "sweep_all"]
