"""A test case: clients send, and servers send it back."""

from mqperf.plan.test_cases import REPLY, TestCase

TEST_CASE = TestCase(
    name="toy-echo",
    number=90,
    title="ECHO",
    short="ECHO",
    heading="Echo Throughput Test",
    finish=REPLY,
    closed_loop=True,
)
