"""A load of declarations: queues that are declared, bound and deleted, again and again."""

from mqperf_amqp_0_9_1.lab.closed_loops import closed_loop
from mqperf_amqp_0_9_1.plan.declarations import GENERATOR, of_case
from mqperf_numbered.lab.environment import Program

LAUNCHER = closed_loop(
    GENERATOR.name,
    Program(
        title="the declarations of AMQP 0-9-1",
        name="mqperf_amqp_0_9_1.onhost.declarations",
        modules=("declarer",),
    ),
    "declarations by AMQP 0-9-1",
    lambda job: of_case(job.case).model_dump(),
)
