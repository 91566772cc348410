"""Errors while several resources are released."""

from collections.abc import Iterator
from contextlib import ExitStack, suppress
from itertools import islice

import pytest

from mqperf.base.closing import ChainedExitStack
from mqperf.base.errors import HostError
from mqperf.lab.runner.interrupts import interrupts_first

TWICE = HostError("lost")


def fail(error: BaseException | None) -> None:
    if error is not None:
        raise error


def contexts(error: BaseException | None) -> list[str]:
    """The texts of an error and of its contexts, at most 9: a cycle never ends."""

    def each() -> Iterator[str]:
        nonlocal error
        while error is not None:
            yield str(error)
            error = error.__context__

    return [*islice(each(), 9)]


def chain(
    stack: ExitStack | ChainedExitStack, *errors: BaseException, ended_by: Exception | None = None
) -> list[str]:
    """The chain of errors, last first, of a block whose resources raise these when it ends."""
    for error in reversed(errors):
        stack.callback(fail, error)
    with pytest.raises(type(errors[-1])) as raised, stack:
        fail(ended_by)
    return contexts(raised.value)


@pytest.mark.parametrize("ended_by", [None, OSError("at the end")])
def test_no_error_is_forgotten(ended_by: OSError | None) -> None:
    """Neither if an error ended the block, nor otherwise."""
    raised = KeyboardInterrupt("first"), ValueError("last")
    expected = ["last", "first", *(["at the end"] if ended_by else [])]
    assert chain(ChainedExitStack(), *raised, ended_by=ended_by) == expected


def test_an_error_that_is_raised_twice_is_not_its_own_context() -> None:
    """As a lost host raises it for each resource: to follow the contexts would never end."""
    assert chain(ChainedExitStack(), TWICE, TWICE) == ["lost"]
    others = ValueError("between"), TWICE
    assert chain(ChainedExitStack(), TWICE, *others) == ["lost", "between"]


def test_the_base_class_does_both() -> None:
    """Otherwise there would be no need for another class."""
    assert chain(ExitStack(), KeyboardInterrupt("first"), ValueError("last")) == ["last"]
    try:
        fail(OSError("handled"))
    except OSError:
        assert chain(ExitStack(), TWICE, TWICE) == ["lost"] * 9
    TWICE.__context__ = None


def test_an_error_that_a_resource_suppresses_is_none_for_the_others() -> None:
    """Whether it ended the block, or another resource raised it; the last entered is the first."""
    released: list[str] = []
    for ended_by in (None, ValueError("suppressed")):
        with ChainedExitStack() as stack:
            stack.callback(released.append, "first entered")
            assert stack.enter_context(suppress(ValueError)) is None
            stack.callback(fail, ended_by or ValueError("raised"))
            stack.callback(released.append, "last entered")
            fail(ended_by)
    assert released == ["last entered", "first entered"] * 2


def test_an_error_in_a_cycle_of_contexts_is_no_interruption() -> None:
    """The search for an interruption ends."""
    first, second = HostError("first"), HostError("second")
    first.__context__, second.__context__ = second, first
    with pytest.raises(HostError, match="first"), interrupts_first():
        raise first
