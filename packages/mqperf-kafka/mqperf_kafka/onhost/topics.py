"""Run as ``python -m mqperf_kafka.onhost.topics ACTION OPTIONS TOPIC...``.

``make`` makes the topics of a run before its servers listen, ``remove`` removes them afterwards.
The run's group of consumers begins at the first message of each topic.  The driver lets a group
without a place begin where the topic ends at that moment, and so miss what was sent before.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from typing import Any

LIMIT_S, AGAIN_S = 30, 0.1


def make(admin: Any, copies: int, partitions: int, topics: Sequence[str]) -> None:  # noqa: ANN401
    """Create topics with so many copies and partitions; ``admin`` is an untyped ``AdminClient``."""
    from confluent_kafka.admin import NewTopic

    _wait(admin.create_topics([NewTopic(name, partitions, copies) for name in topics]))


def begin(brokers: str, group: str, partitions: int, topics: Sequence[str]) -> None:
    """Commit offset 0 of each partition for a group, as a consumer of the group would.

    The library's ``AdminClient`` cannot do that while there is no group coordinator yet, as after
    the start of a broker; and a new coordinator may first have to load its state.
    Raises the error of the last attempt after ``LIMIT_S``, or ``TimeoutError``.
    """
    from confluent_kafka import Consumer, KafkaException, TopicPartition

    offsets = [TopicPartition(name, number, 0) for name in topics for number in range(partitions)]
    consumer = Consumer({"bootstrap.servers": brokers, "group.id": group})
    deadline = time.monotonic() + LIMIT_S
    while True:
        try:
            committed = consumer.commit(offsets=offsets, asynchronous=False)
        except KafkaException:
            if time.monotonic() > deadline:
                raise
        else:
            if not any(offset.error for offset in committed):
                break
            if time.monotonic() > deadline:
                raise TimeoutError
        time.sleep(AGAIN_S)
    consumer.close()


def remove(admin: Any, group: str, topics: Sequence[str]) -> None:  # noqa: ANN401
    """Remove the topics, and the group if it has no members any more."""
    from confluent_kafka import KafkaException

    _wait(admin.delete_topics([*topics]))
    try:
        _wait(admin.delete_consumer_groups([group]))
    except KafkaException as error:  # a killed server is a member until its session expires
        print(error, file=sys.stderr)


def _wait(futures: dict[str, Any]) -> None:
    """Wait for all futures; raises the error of the first that failed."""
    for future in futures.values():
        future.result(timeout=LIMIT_S)


def main() -> None:
    """Perform the action of the arguments; exit with the broker's message if it fails."""
    from confluent_kafka import KafkaException
    from confluent_kafka.admin import AdminClient

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("action", choices=("make", "remove"))
    parser.add_argument("--brokers", required=True, help="host:port,host:port")
    parser.add_argument("--group", required=True, help="of consumers")
    parser.add_argument("--copies", type=int, default=1)
    parser.add_argument("--partitions", type=int, default=1)
    parser.add_argument("topics", nargs="+")
    options = parser.parse_args()
    admin = AdminClient({"bootstrap.servers": options.brokers})
    try:
        if options.action == "make":
            make(admin, options.copies, options.partitions, options.topics)
            begin(options.brokers, options.group, options.partitions, options.topics)
        else:
            remove(admin, options.group, options.topics)
    except KafkaException as error:
        raise SystemExit(str(error.args[0])) from None
    except TimeoutError:
        raise SystemExit(f"no answer of {options.brokers} in {LIMIT_S} s") from None


if __name__ == "__main__":
    main()
