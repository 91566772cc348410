"""Runs a capture from command-line options, and summarizes the profile."""

from collections.abc import Callable, Iterator
from pathlib import Path

from mqperf.base.errors import MqperfError, SystemFault
from mqperf.base.urls import BrokerUrl
from mqperf.lab.systems.rabbitmq.urls import PORTS, address, authority, with_environment
from mqperf_numbered.onhost.broker import Broker
from mqperf_projects.front.durations import seconds
from mqperf_traffic.lab.counting import Counting
from mqperf_traffic.lab.firehose import MOST_WAITING, Firehose
from mqperf_traffic.plan.profile import MOST_SECONDS, Profile, write

WAITING_SHARE = 0.02
"""If a larger share of a second's messages waited to be captured, their second is uncertain."""


def captured(
    url: str, duration: str, out: Path, tell: Callable[[str], None], *, names: bool
) -> Profile:
    """Capture for ``duration``, and write the profile; ``tell`` gets hints for the user meanwhile.

    ``url`` names an environment variable for its password.  Raises ``MqperfError`` for invalid
    options, and if the broker refuses or nothing was published.
    """
    length_s = seconds(duration, "--for")
    if length_s != round(length_s) or not 1 <= length_s <= MOST_SECONDS:
        raise MqperfError(f"--for {duration}: expected whole seconds, {MOST_SECONDS} at most")
    if out.exists() or not out.parent.is_dir():
        raise MqperfError(f"--out {out}: give a new file in an existing folder")
    broker = broker_of(url)
    firehose, counting = Firehose(broker), Counting(round(length_s))
    hint = f"is tracing on? An administrator switches it on: rabbitmqctl trace_on -p {broker.vhost}"
    firehose.capture(counting, lambda: tell(f"mqperf: nothing was published yet; {hint}"))
    if counting.messages == counting.unroutable:
        raise MqperfError(f"nothing was published to a queue for {length_s:.0f} s; {hint}")
    profile = counting.profile(
        names=names, complete=not firehose.dropped, most_waiting=firehose.most_waiting
    )
    write(profile, out)
    return profile


def broker_of(url: str) -> Broker:
    """Return the broker of a URL; raises ``MqperfError`` for a URL that is not RabbitMQ's."""
    parsed = BrokerUrl.parse(with_environment(url))
    if parsed.scheme not in PORTS:
        raise MqperfError(f"the URL: its scheme must be {', '.join(PORTS)}")
    try:
        addresses = (address(parsed),)
        certificates = authority(parsed)
    except (ValueError, SystemFault) as error:
        raise MqperfError(f"the URL: {error}") from None
    user, password = parsed.credentials
    return Broker(addresses, user, password, parsed.vhost or "/", certificates)


def words(profile: Profile) -> Iterator[str]:
    """Yield sentences about what was captured, and what is wrong with it."""
    rates = profile.per_second()
    yield (
        f"{profile.messages:,} messages to {len(profile.routes):,} routes in {profile.seconds} s:"
        f" {profile.messages / profile.seconds:,.1f} msg/s, {min(rates):,} to {max(rates):,} in a"
        " second"
    )
    if profile.unroutable:
        yield f"{profile.unroutable:,} messages went to no queue, and are in no route"
    if profile.gathered:
        yield f"{profile.gathered:,} messages are in merged routes, as there are too many"
    if not profile.complete:
        yield (
            f"the profile is incomplete: more than {MOST_WAITING:,} messages waited, and"
            " the broker dropped some; capture with more CPU or less traffic"
        )
    elif profile.most_waiting > WAITING_SHARE * max(rates):
        yield (
            f"{profile.most_waiting:,} messages waited to be captured at most: they may be counted"
            " in a later second than they were published in"
        )
