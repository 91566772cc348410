"""The program of the generator, ready to run on a host."""

from mqperf.lab.load.numbered.environment import Program

PROGRAM = Program(
    title="the generator of AMQP 0-9-1",
    name="mqperf.onhost.load.amqp_0_9_1",
    modules=("publisher", "consumer"),
)
