"""Problems of the ``actions`` of a plan, by the rules of each action."""

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
    """Yield unknown actions, unsupported targets, and invalid parameters.

    ``actions`` are those of the plan's document; the path of a problem starts below ``actions``.
    ``files`` has, by pins, the contents of the files that actions may name.
    """
    for index, spec in enumerate(actions):
        name = spec.get("do") if isinstance(spec, Mapping) else None
        if not isinstance(spec, Mapping) or not isinstance(name, str):
            continue
        if name not in ACTIONS:
            yield Problem((index, "do"), unknown("action", name, list(ACTIONS)))
            continue
        for problem in (*_problems(ACTIONS[name], spec), *ACTIONS[name].file_problems(spec, files)):
            yield Problem((index, *problem.where), problem.text)


def _problems(action: Action, spec: Mapping[str, object]) -> Iterator[Problem]:
    kinds = [where for where in TARGETS if spec.get(where) not in (None, False)]
    if len(kinds) == 1 and kinds[0] not in action.on:
        targets = " or ".join(TARGETS[where] for where in action.on)
        yield Problem((kinds[0],), f"{action.name} is done to {targets}")
    given = {name: value for name, value in spec.items() if name not in ActionPlan.model_fields}
    try:
        strictly(action.parameters, given)
    except ValidationError as error:
        keys = [*ActionPlan.model_fields, *action.parameters.model_fields]
        yield from of_validation(error, lambda _: keys)
