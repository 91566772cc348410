"""The live page of mqperf: what runs now, for a browser on this machine and for Prometheus."""
