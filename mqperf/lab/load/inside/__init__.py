"""Programs that run beside a broker, where mqperf is not installed.

This folder is put on their path, and nothing else of mqperf is: they import the standard library,
each other, and what a generator brings.
"""

from pathlib import Path

INSIDE = Path(__file__).parent
"""The folder."""
