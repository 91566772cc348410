"""Compares the diaries of processes with their recorded messages."""

from mqperf_nats.plan.parameters import GENERATOR, of_case
from mqperf_numbered.study.published import reader

READER = reader(GENERATOR.name, of_case)
