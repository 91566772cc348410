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
    """Make topics with so many copies and partitions; ``admin`` is a client, without types."""
    from confluent_kafka.admin import NewTopic

    _done(admin.create_topics([NewTopic(name, partitions, copies) for name in topics]))


def begin(brokers: str, group: str, partitions: int, topics: Sequence[str]) -> None:
    """Give a group its place in each partition, as a consumer of its own would.

    The library's client for administration does not find who coordinates groups while there is
    nobody yet, as after the start of a broker; and who does may first have to load what it knows.
    Raises what the last attempt in ``LIMIT_S`` does, or ``TimeoutError``.
    """
    from confluent_kafka import Consumer, KafkaException, TopicPartition

    places = [TopicPartition(name, part, 0) for name in topics for part in range(partitions)]
    consumer = Consumer({"bootstrap.servers": brokers, "group.id": group})
    deadline = time.monotonic() + LIMIT_S
    while True:
        try:
            committed = consumer.commit(offsets=places, asynchronous=False)
        except KafkaException:
            if time.monotonic() > deadline:
                raise
        else:
            if not any(place.error for place in committed):
                break
            if time.monotonic() > deadline:
                raise TimeoutError
        time.sleep(AGAIN_S)
    consumer.close()


def remove(admin: Any, group: str, topics: Sequence[str]) -> None:  # noqa: ANN401
    """Remove the topics, and the group if no server is in it any more."""
    from confluent_kafka import KafkaException

    _done(admin.delete_topics([*topics]))
    try:
        _done(admin.delete_consumer_groups([group]))
    except KafkaException as error:  # one that was killed is a member until its session ends
        print(error, file=sys.stderr)


def _done(futures: dict[str, Any]) -> None:
    """Wait for all; raises what the first that failed does."""
    for future in futures.values():
        future.result(timeout=LIMIT_S)


def main() -> None:
    """Do what the arguments say; ends with the broker's word where it refuses."""
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
