"""The live view of mqperf for Prometheus: what runs now, and what finished runs measured."""
