"""The program of the generator, ready to run on a host."""

from mqperf.lab.load.numbered.environment import Program

PROGRAM = Program(
    title="the generator of compute nodes",
    name="mqperf.onhost.load.compute_nodes",
    modules=("sending", "listening"),
)
