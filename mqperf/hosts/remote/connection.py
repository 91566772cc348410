"""Connections to several hosts at once."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

from mqperf.base.errors import HostError
from mqperf.hosts.place import Place
from mqperf.hosts.remote.channel import LEASE_S, Channel, opened
from mqperf.hosts.remote.host import RemoteHost

AT_ONCE = 32


@contextmanager
def attempted(
    places: Sequence[Place], lease_s: float = LEASE_S
) -> Iterator[list[RemoteHost | HostError]]:
    """Connect to hosts, all at once; for each the host, or why there is none.

    When the block ends nothing of ours is left on them; when we are killed, after ``lease_s``
    seconds at most.
    """
    with ExitStack() as stack:
        channels = [stack.enter_context(opened(place, lease_s)) for place in places]
        with ThreadPoolExecutor(AT_ONCE) as pool:
            outcomes = list(pool.map(_greeted, places, channels))
        try:
            yield outcomes
        finally:
            # All agents end their hosts' processes at the same time, not one after the other.
            for channel in channels:
                channel.leave()


@contextmanager
def connected(places: Sequence[Place], lease_s: float = LEASE_S) -> Iterator[list[RemoteHost]]:
    """The same, of hosts that are all needed.

    Raises ``HostError`` with one line for each that cannot be had.
    """
    with attempted(places, lease_s) as outcomes:
        troubles = [str(outcome) for outcome in outcomes if isinstance(outcome, HostError)]
        if troubles:
            raise HostError("\n".join(troubles))
        yield [outcome for outcome in outcomes if isinstance(outcome, RemoteHost)]


def _greeted(place: Place, channel: Channel) -> RemoteHost | HostError:
    try:
        return RemoteHost(place, channel, channel.greet())
    except HostError as error:
        return error
