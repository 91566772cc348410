"""Connections to several hosts at once."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from mqperf.base.closing import ChainedExitStack
from mqperf.base.errors import HostError
from mqperf.hosts.place import Place
from mqperf.hosts.remote.channel import LEASE_S, Channel, opened
from mqperf.hosts.remote.host import RemoteHost

AT_ONCE = 32


@contextmanager
def attempted(
    places: Sequence[Place], lease_s: float = LEASE_S
) -> Iterator[list[RemoteHost | HostError]]:
    """Connect to all hosts in parallel; yield for each the host, or the error.

    When the block ends, everything of ours is removed from the hosts; when mqperf is killed, that
    happens after ``lease_s`` seconds at most.
    """
    with ChainedExitStack() as stack:
        channels = [stack.enter_context(opened(place, lease_s)) for place in places]
        with ThreadPoolExecutor(AT_ONCE) as pool:
            outcomes = list(pool.map(_greeted, places, channels))
        try:
            yield outcomes
        finally:
            # All agents end their processes in parallel, not one after the other.
            for channel in channels:
                channel.leave()


@contextmanager
def connected(places: Sequence[Place], lease_s: float = LEASE_S) -> Iterator[list[RemoteHost]]:
    """Connect to hosts that are all required.

    Raises ``HostError`` with one line for each host that cannot be reached.
    """
    with attempted(places, lease_s) as outcomes:
        errors = [str(outcome) for outcome in outcomes if isinstance(outcome, HostError)]
        if errors:
            raise HostError("\n".join(errors))
        yield [outcome for outcome in outcomes if isinstance(outcome, RemoteHost)]


def _greeted(place: Place, channel: Channel) -> RemoteHost | HostError:
    try:
        return RemoteHost(place, channel, channel.greet())
    except HostError as error:
        return error
