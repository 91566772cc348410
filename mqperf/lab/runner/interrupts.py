"""Ctrl-C, which ends a sweep whatever else goes wrong."""

from collections.abc import Iterator
from contextlib import contextmanager

from mqperf.base.errors import MqperfError


@contextmanager
def interrupts_first() -> Iterator[None]:
    """Raise the interruption, and not an error that giving things back because of it has led to.

    ``KeyboardInterrupt`` is one, and so is ``GeneratorExit``.
    """
    try:
        yield
    except MqperfError as error:
        reason: BaseException | None = error
        while isinstance(reason, Exception):
            reason = reason.__context__
        if reason is None:
            raise
        raise reason from None
