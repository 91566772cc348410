"""mqperf: a message-queue performance laboratory in a notebook."""

__version__ = "0.1.0"
