"""How generators are run whose processes have their orders in files."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from mqperf.lab.load.launcher import Job, Launcher
from mqperf.plan.load import Member
from mqperf.record.outputs import diary
from mqperf_numbered.lab.commands import described, with_orders
from mqperf_numbered.lab.environment import Program


def launcher(
    name: str, program: Program, about: str, extra: Callable[[Job, Member], Mapping[str, Any]]
) -> Launcher:
    """That of the generator of this name, with what all have alike.

    ``extra`` gives what each process is ordered beyond what all are.
    """
    return Launcher(
        name=name,
        tool=program.ensure,
        about=lambda _driver: about,
        try_out=program.self_check,
        commands=partial(with_orders, program, extra),
        describe=partial(described, program),
        typed=False,
        check=partial(diary.check, name),
    )
