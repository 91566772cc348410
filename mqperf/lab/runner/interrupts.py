"""Ctrl-C, which ends a sweep even if errors follow from it."""

from collections.abc import Iterator
from contextlib import contextmanager

from mqperf.base.errors import MqperfError


@contextmanager
def interrupts_first() -> Iterator[None]:
    """Raise the interruption instead of an error in the clean-up that it caused.

    ``KeyboardInterrupt`` and ``GeneratorExit`` are interruptions.
    """
    try:
        yield
    except MqperfError as error:
        seen: set[BaseException] = set()
        cause: BaseException | None = error
        while isinstance(cause, Exception) and cause not in seen:
            seen.add(cause)
            cause = cause.__context__
        if cause is None or cause in seen:
            raise
        raise cause from None
