"""A plan for a question, from three things: a system, a test case, and the values to vary."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mqperf.base.errors import MqperfError
from mqperf.base.problems import unknown
from mqperf.lab.systems import System, lookup
from mqperf.lab.systems.in_plans import problems_of
from mqperf.plan.file import parse_plan
from mqperf.plan.questions import QUESTIONS
from mqperf_projects.front.durations import seconds

LOAD = "load: {green_threads: 10, duration_s: 10}"


@dataclass(frozen=True, slots=True)
class Template:
    """What is varied for a question: the text of the prompt, an example, and the lines of a plan.

    ``lines`` takes the values and the test case.  The plan has the first of ``topologies`` that the
    system supports; ``queues`` are the kinds for systems with classic queues.  ``notebooks`` show
    the answer.
    """

    values: str
    usual: str
    lines: Callable[[Sequence[str], str], Sequence[str]]
    notebooks: tuple[str, ...] = ()
    topologies: tuple[str, ...] = ("cmsm",)
    queues: str = ""


def _scaling(values: Sequence[str], _test_case: str) -> Sequence[str]:
    return (f"load: {{green_threads: {_list(values)}, duration_s: 10}}", "repeats: 3")


def _saturation(values: Sequence[str], _test_case: str) -> Sequence[str]:
    low, *_, high = (*values, *values)[: max(len(values), 2)]
    staircase = f"rate_msg_s: {low}, ramp_to_msg_s: {high}, ramp_steps: 14, ramp_steps_by: ratio"
    return (
        f"load: {{green_threads: 10, {staircase},",
        "  duration_s: 19, warmup_s: 1, cooldown_s: 1}",
    )


def _sustained(values: Sequence[str], _test_case: str) -> Sequence[str]:
    limit = seconds(values[0], "the limit")
    search = f"from_msg_s: 100, to_msg_s: 20000, hold: {{latency_p99_s: {limit:g}}}"
    return (LOAD, f"search: {{{search}}}")


def _comparison(_values: Sequence[str], _test_case: str) -> Sequence[str]:
    return (LOAD, "decide: {difference: 0.05, within: 10 min}")


def _factor(values: Sequence[str], test_case: str) -> Sequence[str]:
    conditions = [
        f"  beside {value} msg/s: {{background:"
        f" [{{test_case: {test_case}, green_threads: 5, rate_msg_s: {value}}}]}}"
        for value in values
    ]
    return (LOAD, "conditions:", "  undisturbed: {}", *conditions, "repeats: 3")


def _outage(values: Sequence[str], _test_case: str) -> Sequence[str]:
    action = "  - {{do: {0}, node: Master, at_s: {1}, for_s: 4}}"
    actions = [action.format(value, 5 + 15 * number) for number, value in enumerate(values)]
    load = f"load: {{green_threads: 5, duration_s: {10 + 15 * len(values)}, timeout_s: 60}}"
    return (load, "actions:", *actions)


TEMPLATES: Mapping[str, Template] = {
    "saturation": Template(
        "the lowest and the highest offered rate, in msg/s", "300, 4000", _saturation, ("stress",)
    ),
    "scaling": Template("numbers of threads", "1, 5, 25", _scaling),
    "sustained": Template("the limit of the 99th percentile of latency", "100 ms", _sustained),
    "comparison": Template(
        "kinds of queue, the first is the reference",
        "classic, quorum",
        _comparison,
        queues="{values}",
    ),
    "factor": Template(
        "rates of a second load beside the first, in msg/s", "50, 200", _factor, ("wan",)
    ),
    "outage": Template(
        "what happens to a node: kill, stop, freeze",
        "kill, freeze",
        _outage,
        ("faults",),
        ("any-node", "cmsm"),
        "ha",
    ),
}
"""Templates by question.  Questions of other packages have none."""


def _list(values: Sequence[str]) -> str:
    return f"[{', '.join(values)}]"


def template(question: str) -> Template:
    """Return the template of a question; raise ``MqperfError`` with the nearest known one."""
    if question not in TEMPLATES:
        raise MqperfError(unknown("question", question, [*TEMPLATES]))
    return TEMPLATES[question]


def plan_text(question: str, system: str, test_case: str, values: str) -> str:
    """Return the YAML of a plan for a question; raise ``MqperfError`` if that plan is invalid."""
    variation, known = template(question), lookup(system)
    split = [value.strip() for value in values.split(",") if value.strip()]
    if not split:
        raise MqperfError(f"question {question}: no value to vary: name {variation.values}")
    lines = [
        f"# {QUESTIONS[question].tells[0].upper()}{QUESTIONS[question].tells[1:]}.",
        f"title: {json.dumps(f'{known.title}: {question}')}",
        f"question: {question}",
        f"systems: {{{system}: {{{_layout(variation, known, split)}}}}}",
        f"test_cases: [{test_case}]",
        *variation.lines(split, test_case),
    ]
    text = "\n".join(lines) + "\n"
    parse_plan(text, Path(f"{question}.yaml"), problems_of)
    return text


def _layout(variation: Template, system: System, values: Sequence[str]) -> str:
    """Return the YAML of the topology, and of the kinds of queue unless they are the default."""
    supported = (name for name in variation.topologies if name in system.topologies)
    text = f"topologies: [{next(supported, system.topologies[0])}]"
    queues = variation.queues.format(values=", ".join(values))
    if "classic" not in system.queues:
        queues = system.queues[0]
    return f"{text}, queues: [{queues}]" if queues else text
