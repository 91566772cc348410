"""Release of several resources, also if errors or Ctrl-C come in between."""

from contextlib import ExitStack
from types import TracebackType

from typing_extensions import override


class ChainedExitStack(ExitStack):
    """An ``ExitStack`` that forgets no error: each is the context of the next.

    The base class forgets all but the last, unless an error is being handled when it is closed.
    """

    @override
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        try:
            next(iter(()))
        except StopIteration:  # the error that is being handled
            return bool(super().__exit__(kind, error, trace))
