"""The test case of the load, which defines when a message is finished."""

from mqperf.plan.test_cases import Finish, TestCase

TEST_CASE = TestCase(
    name="publish",
    number=4,
    title="PUBLISH",
    short="PUBLISH",
    heading="Publish Throughput Test",
    finish=Finish(
        stream="received",
        latency="one-way",
        points=(
            "Messages are counted at 2 points: ``sent`` (published by the client) and ``received``"
            " (deliveries to servers, one from each queue that a message is routed to)."
        ),
        counted="deliveries to servers",
        measured=(
            "Latency is one way, from the instant at which the message was due (at an offered rate)"
            " or sent (without one) to its receipt."
        ),
        lost="what was to be delivered less received",
    ),
    streamed=True,
)
