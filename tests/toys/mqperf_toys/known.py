"""Temporary registration of the toys, as if their package were installed."""

from dataclasses import replace

import pytest

from mqperf.lab.load import LAUNCHERS, Launcher
from mqperf.lab.systems import SYSTEMS
from mqperf.plan.load import GENERATORS, Generator
from mqperf.plan.values import Frozen
from mqperf.study.load import LOAD_READERS
from mqperf_toys import replay, system


def known(
    patch: pytest.MonkeyPatch,
    launcher: Launcher = replay.LAUNCHER,
    generator: Generator = replay.GENERATOR,
) -> None:
    """Register the toy system, and the replaying generator or a variant of it."""
    patch.setitem(SYSTEMS._values, "toy", system.SYSTEM)
    patch.setitem(GENERATORS._values, generator.name, generator)
    patch.setitem(LAUNCHERS._values, launcher.name, launcher)
    patch.setitem(LOAD_READERS._values, "replay", replay.READER)


def known_with(patch: pytest.MonkeyPatch, parameters: type[Frozen]) -> None:
    """Do the same with other parameters of the replaying generator; its processes are real."""
    generator = replace(replay.GENERATOR, parameters=parameters)
    known(patch, generator=generator)
    patch.setattr(replay, "GENERATOR", generator)
