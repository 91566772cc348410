"""Counts published messages; a capture keeps nothing but these counts."""

from collections import Counter
from itertools import groupby

from mqperf.plan.file.attached import MOST_BYTES
from mqperf_traffic.lab.trace_events import Published, published
from mqperf_traffic.plan.profile import (
    LONGEST_NAME,
    MOST_QUEUES,
    MOST_ROUTES,
    TENTHS,
    Profile,
    Route,
    content,
)

MOST_KNOWN = 20_000
"""Size of the cache of parsed header tables, which are often the same within a connection."""

COUNT_BYTES = 2
"""The fewest bytes that a second of a route takes in a profile."""

LENGTHS = 64
"""So many distinct lengths are kept.  If there are more, adjacent lengths are grouped under the
longest of the group; a group of several has at most 1/64 of all messages."""

Key = tuple[str | None, str | None, int]
"""Exchange, routing key and number of queues; None, None for merged routes with as many queues."""


class Counting:
    """Messages by route, second and tenth, and by length, in so many ``seconds``."""

    def __init__(self, seconds: int) -> None:
        self.seconds = seconds
        self.messages = self.unroutable = self.gathered = 0
        self.known: dict[bytes, Key | None] = {}
        self.keys: set[Key] = set()
        self.by_second: Counter[tuple[Key, int]] = Counter()
        self.by_tenth: Counter[int] = Counter()
        self.by_length: Counter[tuple[Key, int]] = Counter()

    def count(self, passed_s: float, table: bytes, length: int, messages: int = 1) -> None:
        """Count messages with this header table, received ``passed_s`` after the beginning.

        Raises ``ValueError`` for a body that is longer than a profile allows.
        """
        if length > MOST_BYTES:
            raise ValueError(f"a message of {length} bytes came: profiles have up to {MOST_BYTES}")
        tenth = int(passed_s * TENTHS)
        if tenth >= self.seconds * TENTHS:
            return
        self.messages += messages
        if table not in self.known:
            if len(self.known) >= MOST_KNOWN:
                self.known.clear()
            self.known[table] = self._route_of(published(table))
        if (key := self.known[table]) is None:
            self.unroutable += messages
            return
        self.gathered += messages * (key[0] is None)
        self.by_second[key, tenth // TENTHS] += messages
        self.by_tenth[tenth] += messages
        self.by_length[key, length] += messages

    def _route_of(self, event: Published) -> Key | None:
        """Return the route of a message; None if it went to no queue."""
        if not event.queues:
            return None
        key = (event.exchange, event.routing_key, min(event.queues, MOST_QUEUES))
        if key not in self.keys and len(self.keys) >= MOST_ROUTES:
            return None, None, key[2]
        self.keys.add(key)
        return key

    def profile(self, *, names: bool, complete: bool, most_waiting: int) -> Profile:
        """Return the profile of what was counted, its largest routes first.

        The smallest routes of a long capture are merged until the profile fits in a plan's file.
        """
        most = MOST_BYTES // (COUNT_BYTES * self.seconds)
        while True:
            self._merge_small(most)
            profile = self._profile(names=names, complete=complete, most_waiting=most_waiting)
            if not most or len(content(profile)) <= MOST_BYTES:
                return profile
            most //= 2

    def _merge_small(self, most: int) -> None:
        """Merge the smallest routes, so that at most ``most`` remain distinct."""
        sizes: Counter[Key] = Counter()
        for (key, _), count in self.by_second.items():
            if key[0] is not None:
                sizes[key] += count
        small = {key for key, _ in sizes.most_common()[most:]}
        self.gathered += sum(sizes[key] for key in small)
        for counts in (self.by_second, self.by_length):
            for key, bucket in [*counts]:
                if key in small:
                    counts[(None, None, key[2]), bucket] += counts.pop((key, bucket))

    def _profile(self, *, names: bool, complete: bool, most_waiting: int) -> Profile:
        lengths: Counter[int] = Counter()
        for (_, length), count in self.by_length.items():
            lengths[length] += count
        representative = representatives(lengths)
        of_key: dict[Key, Counter[int]] = {}
        for (key, length), count in self.by_length.items():
            of_key.setdefault(key, Counter())[representative[length]] += count
        by_size = sorted(of_key, key=lambda key: -of_key[key].total())
        return Profile(
            complete=complete,
            most_waiting=most_waiting,
            unroutable=self.unroutable,
            gathered=self.gathered,
            tenths=tuple(self.by_tenth[tenth] for tenth in range(self.seconds * TENTHS)),
            routes=tuple(self._route(key, of_key[key], names=names) for key in by_size),
        )

    def _route(self, key: Key, lengths: Counter[int], *, names: bool) -> Route:
        exchange, routing_key, queues = key
        return Route(
            exchange=exchange if names else None,
            routing_key=routing_key[:LONGEST_NAME] if names and routing_key is not None else None,
            queues=queues,
            per_second=tuple(self.by_second[key, second] for second in range(self.seconds)),
            lengths=tuple(sorted(lengths.items())),
        )


def representatives(lengths: Counter[int]) -> dict[int, int]:
    """Return the length that each length is recorded as: itself if there are few lengths."""
    if len(lengths) <= LENGTHS:
        return {length: length for length in lengths}
    group_size, passed, groups = lengths.total() / LENGTHS / 2, 0, {}
    for length in sorted(lengths):
        passed += lengths[length]
        # a length with more messages than a group is a group of its own
        groups[length] = (passed // group_size, lengths[length] > group_size and length)
    longest: dict[int, int] = {}
    for _, group in groupby(sorted(lengths), key=groups.__getitem__):
        members = [*group]
        longest |= dict.fromkeys(members, members[-1])
    return longest
