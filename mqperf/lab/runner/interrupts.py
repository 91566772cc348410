"""Ctrl-C, which ends a sweep even if errors follow from it."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import TracebackType

from typing_extensions import override

from mqperf.base.errors import MqperfError


class ChainedExitStack(ExitStack):
    """An ``ExitStack`` that forgets no error while it is closed: each is the context of the next.

    The base class chains them only if an error is being handled.
    """

    @override
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        if error is not None:
            return bool(super().__exit__(kind, error, trace))
        try:
            next(iter(()))  # the error that is being handled
        except StopIteration:
            return bool(super().__exit__(None, None, None))


@contextmanager
def interrupts_first() -> Iterator[None]:
    """Raise the interruption instead of an error in the clean-up that it caused.

    ``KeyboardInterrupt`` and ``GeneratorExit`` are interruptions.
    """
    try:
        yield
    except MqperfError as error:
        cause: BaseException | None = error
        while isinstance(cause, Exception):
            cause = cause.__context__
        if cause is None:
            raise
        raise cause from None
