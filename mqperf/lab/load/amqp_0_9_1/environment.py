"""The program of the generator, ready to run on a host."""

from pathlib import Path

from mqperf.lab.load.numbered.environment import Program

INSIDE = Path(__file__).with_name("inside")

PROGRAM = Program(
    title="the generator of AMQP 0-9-1",
    name="mqperf.onhost.load.amqp_0_9_1",
    inside=(INSIDE,),
    modules=("publisher", "consumer"),
)
