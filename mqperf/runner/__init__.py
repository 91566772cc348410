"""The runner: one trial of a case, and a sweep of the cases that are pending."""

from mqperf.runner.observer import Observer, Silent
from mqperf.runner.sweep import Outcome, sweep

__all__ = ["Observer", "Outcome", "Silent", "sweep"]
