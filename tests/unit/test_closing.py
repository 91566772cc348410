"""Errors while several resources are released."""

from contextlib import ExitStack

import pytest

from mqperf.base.closing import ChainedExitStack


def fail(error: BaseException) -> None:
    raise error


def chain(stack: ExitStack, ended_by: Exception | None = None) -> list[str]:
    """The chain of errors, last first, of a block whose resources raise two when it ends."""
    try:
        with stack:
            stack.callback(fail, ValueError("last"))
            stack.callback(fail, KeyboardInterrupt("first"))
            if ended_by is not None:
                raise ended_by
    except ValueError as error:
        errors: list[BaseException] = [error]
        while (context := errors[-1].__context__) is not None:
            errors.append(context)
        return [str(error) for error in errors]
    return []


@pytest.mark.parametrize("ended_by", [None, OSError("at the end")])
def test_no_error_is_forgotten(ended_by: OSError | None) -> None:
    """Neither if an error ended the block, nor otherwise."""
    expected = ["last", "first", *(["at the end"] if ended_by else [])]
    assert chain(ChainedExitStack(), ended_by) == expected


def test_the_base_class_forgets_the_first() -> None:
    """Otherwise there would be no need for another class."""
    assert chain(ExitStack()) == ["last"]
