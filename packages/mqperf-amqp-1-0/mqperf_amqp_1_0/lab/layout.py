"""Which address each thread of a load has: its messages reach the receiver beside it only."""

from mqperf.plan import Case


def address(key: str, number: int) -> str:
    """The address of a thread, counted over all processes from 0; names have a fixed width."""
    return f"{key}.{number + 1:06d}"


def threads(case: Case, key: str, process: int, form: str = "{}") -> list[dict[str, object]]:
    """The threads of a client process, and of the server process beside it.

    ``form`` is how an address names a queue.
    """
    first = (process - 1) * case.green_threads
    numbers = range(first, first + case.green_threads)
    return [{"number": number, "address": form.format(address(key, number))} for number in numbers]


def addresses(case: Case, key: str) -> list[str]:
    """All addresses of a load."""
    return [address(key, number) for number in range(case.threads)]
