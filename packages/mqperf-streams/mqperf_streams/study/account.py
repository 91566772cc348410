"""Compares the diaries of processes with their recorded messages."""

from mqperf_numbered.study.published import reader
from mqperf_streams.plan.parameters import GENERATOR, of_case

READER = reader(GENERATOR.name, of_case)
