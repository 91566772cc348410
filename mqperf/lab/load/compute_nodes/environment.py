"""The program of the generator, ready to run on a host."""

from pathlib import Path

from mqperf.lab.load import amqp_0_9_1
from mqperf.lab.load.numbered.environment import Program

INSIDE = Path(__file__).with_name("inside")

PROGRAM = Program(
    title="the generator of compute nodes",
    name="mqperf.onhost.load.compute_nodes",
    inside=(amqp_0_9_1.environment.INSIDE, INSIDE),
    modules=("sending", "listening"),
)
