"""The command ``mqperf gate`` and its implementation."""
