"""What clients do, and when a command counts as finished."""

from mqperf.plan.test_cases import Finish, TestCase

TEST_CASE = TestCase(
    name="command",
    number=6,
    title="COMMAND",
    short="COMMAND",
    heading="Command Test",
    finish=Finish(
        stream="round_trip",
        latency="round-trip",
        points=(
            "Commands are counted at 2 points: ``sent`` (begun) and ``round-trip`` (ended with exit"
            " code 0). Others are errors. There are no servers."
        ),
        counted="commands that ended with exit code 0",
        measured="Latency is the time that a command took, from its start to its end.",
        lost="commands with neither end nor error",
    ),
    closed_loop=True,
    noun="command",
    unit="commands",
    servers=False,
)
