"""Release of several resources, also if errors or Ctrl-C come in between."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import ParamSpec, Self, TypeVar

P = ParamSpec("P")
Value = TypeVar("Value")


class ChainedExitStack:
    """Releases its resources, last first, as nested ``with`` statements do.

    Of several errors each is the context of the next.  ``contextlib.ExitStack`` forgets all but the
    last, unless an error is being handled, and can make one that is raised twice its own context.
    """

    def __init__(self) -> None:
        self._exits: list[Callable[..., object]] = []

    def enter_context(self, manager: AbstractContextManager[Value]) -> Value:
        """Enter a context manager that is exited when the stack is; return its value."""
        value = manager.__enter__()
        self._exits.append(manager.__exit__)
        return value

    def callback(self, function: Callable[P, object], /, *args: P.args, **kwargs: P.kwargs) -> None:
        """Call a function when the stack is exited."""

        def call(*_error: object) -> None:
            function(*args, **kwargs)

        self._exits.append(call)

    def close(self) -> None:
        """Release all resources now."""
        self.__exit__(None, None, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> bool:
        if not self._exits:
            return False
        try:
            suppressed = bool(self._exits.pop()(*error))
        except BaseException as raised:
            if not self.__exit__(type(raised), raised, raised.__traceback__):
                raise
            return True
        return self.__exit__(*([None] * 3 if suppressed else error)) or suppressed
