"""The program of the generator, ready to run on a host."""

from pathlib import Path

from mqperf.load.numbered.environment import Program

INSIDE = Path(__file__).with_name("inside")

PROGRAM = Program(
    title="the generator of AMQP 1.0",
    name="mqperf.load.amqp_1_0.inside",
    inside=(INSIDE,),
    modules=("sender", "receiver"),
)
