"""A load of requests, each of which a server replies to."""

from mqperf_amqp_0_9_1.lab.closed_loops import closed_loop
from mqperf_amqp_0_9_1.plan.requests import GENERATOR, of_case
from mqperf_numbered.lab.environment import Program

LAUNCHER = closed_loop(
    GENERATOR.name,
    Program(
        title="requests and replies of AMQP 0-9-1",
        name="mqperf_amqp_0_9_1.onhost.requests",
        modules=("requester", "responder"),
    ),
    "requests and replies by AMQP 0-9-1",
    lambda job: of_case(job.case).model_dump(),
)
