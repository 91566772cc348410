"""Decisions between two plans: ``decide`` is written into the text of both."""

import json
from collections.abc import Sequence
from pathlib import Path

from mqperf.base.errors import PlanError
from mqperf.plan.decide import SIDES
from mqperf.plan.file.checked import PlanFile, parse_plan


def with_decision(files: Sequence[PlanFile], percent: str, within: str) -> list[PlanFile]:
    """Return the two plans with ``decide`` between them, in the plans and in their texts.

    ``percent`` is the difference that matters, such as ``5%``.  Raises ``PlanError`` for any other
    text, and where a plan already has ``decide``, or cannot have it.
    """
    names = [file.plan.name for file in files]
    if len(names) != SIDES:
        raise PlanError(
            f"--decide is between two plans, {len(names)} given: within one, say decide in the plan"
        )
    rule = {"difference": _share(percent), "within": within, "plans": names}
    decided = []
    for file in files:
        if file.plan.decide is not None:
            raise PlanError(f"plan {file.plan.name} has decide already: leave it out, or --decide")
        text = f"{file.text.rstrip()}\ndecide: {json.dumps(rule)}\n"
        plan = parse_plan(text, Path(f"{file.plan.name}.yaml"))
        decided.append(PlanFile(file.plan.model_copy(update={"decide": plan.decide}), text))
    return decided


def _share(percent: str) -> float:
    number = percent.removesuffix("%") if percent.endswith("%") else ""
    try:
        return float(number) / 100
    except ValueError:
        raise PlanError(f"--decide {percent}: expected per cent with their sign: 5%") from None
