"""Sweeps for mqperf that outlive the notebook which started them, and are found again."""
