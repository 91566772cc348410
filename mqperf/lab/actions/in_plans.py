"""What is wrong with the ``actions`` of a plan, as far as only each action knows."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from pydantic import ValidationError

from mqperf.base.problems import Problem, of_validation, unknown
from mqperf.lab.actions import ACTIONS
from mqperf.lab.actions.action import Action
from mqperf.plan import ActionPlan, strictly

TARGETS = {"node": "a node: say node:", "link": "the link: say link: true", "host": "a host: host:"}


def problems_of(
    actions: Sequence[object], files: Mapping[str, bytes] = MappingProxyType({})
) -> Iterator[Problem]:
    """An action that there is not, one on what it cannot have, and parameters that it refuses.

    ``actions`` are as the plan's document holds them; places count from ``actions`` on.  Of
    ``files``, by their pins, those are looked at that actions name.
    """
    for index, said in enumerate(actions):
        name = said.get("do") if isinstance(said, Mapping) else None
        if not isinstance(said, Mapping) or not isinstance(name, str):
            continue
        if name not in ACTIONS:
            yield Problem((index, "do"), unknown("action", name, list(ACTIONS)))
            continue
        for problem in (*_of_one(ACTIONS[name], said), *ACTIONS[name].file_problems(said, files)):
            yield Problem((index, *problem.where), problem.text)


def _of_one(action: Action, said: Mapping[str, object]) -> Iterator[Problem]:
    found = [where for where in TARGETS if said.get(where) not in (None, False)]
    if len(found) == 1 and found[0] not in action.on:
        targets = " or ".join(TARGETS[where] for where in action.on)
        yield Problem((found[0],), f"{action.name} is done to {targets}")
    own = {name: value for name, value in said.items() if name not in ActionPlan.model_fields}
    try:
        strictly(action.parameters, own)
    except ValidationError as error:
        known = [*ActionPlan.model_fields, *action.parameters.model_fields]
        yield from of_validation(error, lambda _: known)
