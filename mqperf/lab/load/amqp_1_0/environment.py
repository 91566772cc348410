"""The program of the generator, ready to run on a host."""

from mqperf.lab.load.numbered.environment import Program

PROGRAM = Program(
    title="the generator of AMQP 1.0",
    name="mqperf.onhost.load.amqp_1_0",
    modules=("sender", "receiver"),
)
