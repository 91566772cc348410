"""Well-formed plans with impossible values are refused before the run, with their lines."""

import json
from pathlib import Path

import pytest
from refused import refused

from mqperf.base.errors import PlanError
from mqperf.lab.systems import SYSTEMS
from mqperf.lab.systems.in_plans import problems_of
from mqperf.plan.file import parse_plan

SCRIPTS = {"good.sh": b"#!/bin/sh\n", "notes.txt": b"no program\n", "binary": b"#!\xff\xfe\n"}
HEAD = "test_cases: [publish]\nsystems:\n  rabbitmq:\n    topologies: [cmsm]\n"
LOAD = "load:\n  generator: amqp-0-9-1\n  green_threads: 2\n  duration_s: 20\n"
STOP = "actions:\n  - {do: stop, node: Slave 2, at_s: 5, for_s: 3}\n"
IMPAIR = "link: {delay_s: 0.1}\nactions: [{do: impair, link: true, at_s: 1, for_s: 2, WHAT}]\n"
RUN = "actions:\n- {do: script, host: local, at_s: 1, for_s: 2,\n   script_file: NAME}\n"
MORE = RUN.replace("NAME", "good.sh,\n   more_files: [notes.txt, NAME]")
UNDER = "conditions:\n  near: {}\n  far:\n    link:\n      delay_s: 0.1\n      jitter_s: "

PAIRS = {
    "rate": (LOAD + "  rate_msg_s: 0.05\n", "0.05", "1.0e-320", "9: load.rate_msg_s: at 1e-320 "),
    "rates": (
        LOAD + "  rate_msg_s: [5, 0.05]\n",
        "0.05",
        "0.04",
        "9: load.rate_msg_s entry 2: at 0.04 msg/s no message is sent in 23 s: raise it",
    ),
    "rate of threads": (
        LOAD + "  thread_rate_msg_s: 0.03\n",
        "0.03",
        "0.02",
        "9: load.thread_rate_msg_s: at 0.04 msg/s no message is sent in 23 s: raise it",
    ),
    "end of a ramp": (
        LOAD + "  rate_msg_s: 5\n  ramp_to_msg_s: 0.05\n",
        "0.05",
        "1.0e-320",
        "10: load.ramp_to_msg_s: at 1e-320 ",
    ),
    "steps": (
        LOAD + "  rate_msg_s: 5\n  ramp_to_msg_s: 50\n  ramp_steps: 23\n",
        "23",
        "40",
        "11: load.ramp_steps: 40 steps in 23 s do not have a whole second each: give 23, or",
    ),
    "steps that fall between seconds": (
        LOAD + "  rate_msg_s: 5\n  ramp_to_msg_s: 50\n  ramp_steps: 11\n",
        "11",
        "22",
        "11: load.ramp_steps: 22 steps in 23 s do not have a whole second each: give 23, or",
    ),
    "count": (
        LOAD + "  rate_msg_s: [1, 5]\n  message_count: 115\n",
        "115",
        "100000000",
        "10: load.message_count: 100,000,000 messages are not sent in 23 s at 5 msg/s: lower",
    ),
    "truth as a rate": (
        LOAD + "  rate_msg_s: 1\n",
        "msg_s: 1",
        "msg_s: true",
        "9: load.rate_msg_s: expected a number, got true",
    ),
    "text as a rate": (
        LOAD + "  rate_msg_s: 1\n",
        "msg_s: 1",
        "msg_s: '1'",
        "9: load.rate_msg_s: expected a number, got '1'",
    ),
    "background": (
        LOAD + "background:\n- {test_case: publish, green_threads: 1, generator: amqp-0-9-1,\n"
        "   rate_msg_s: 1}\n",
        "s: 1}",
        "s: 0.01}",
        "11: background entry 1.rate_msg_s: at 0.01 msg/s no message is sent in 23 s",
    ),
    "search": (
        LOAD + "search: {from_msg_s: 1, to_msg_s: 5}\n",
        "from_msg_s: 1",
        "from_msg_s: 0.01",
        "9: search.from_msg_s: at 0.01 msg/s no message is sent in 23 s: raise it",
    ),
    "time of a condition": (
        LOAD + "fail_when:\n  latency_p99_s: 1\n  for_s: 20\n",
        "for_s: 20",
        "for_s: 3600",
        "11: fail_when.for_s: 3600 s do not pass in a window of 20 s: lower it, or lengthen",
    ),
    "limit of a condition": (
        LOAD + "fail_when:\n  latency_p99_s: 1\n  latency_mean_s: null\n",
        "p99_s: 1",
        "p99_s: null",
        "11: fail_when.latency_mean_s: it limits nothing: give a number",
    ),
    "control runs": (
        LOAD + "control_runs: true\n",
        "true",
        "1",
        "9: control_runs: expected true or false, got 1",
    ),
    "tls": (
        "    settings:\n      tls: true\n" + LOAD,
        "true",
        '"yes"',
        "6: systems.rabbitmq.settings.tls: expected true or false, got 'yes'",
    ),
    "time to start": (
        "    settings:\n      start_timeout_s: 1\n" + LOAD,
        "timeout_s: 1",
        "timeout_s: true",
        "6: systems.rabbitmq.settings.start_timeout_s: expected a whole number, got true",
    ),
    "jitter": (
        LOAD + "link:\n  delay_s: 5\n  jitter_s: 5\n",
        "delay_s: 5",
        "delay_s: 0",
        "11: link.jitter_s: a delay of 0 s cannot vary by 5 s: give delay_s, too",
    ),
    "jitter of a condition": (
        LOAD + UNDER + "0.1\n",
        "jitter_s: 0.1",
        "jitter_s: 5",
        "14: conditions.far.link.jitter_s: a delay of 0.1 s cannot vary by 5 s",
    ),
    "impaired jitter": (
        LOAD + IMPAIR.replace("WHAT", "jitter_s: 0.1"),
        "jitter_s: 0.1",
        "jitter_s: 5",
        "10: actions entry 1.jitter_s: a delay of 0.1 s cannot vary by 5 s",
    ),
    "node": (
        LOAD + STOP,
        "Slave 2",
        "R2",
        "10: actions entry 1.node: unknown node of RabbitMQ (cmsm) 'R2'; known: Master, ",
    ),
    "nodes": (
        LOAD + STOP,
        "Slave 2",
        "[R2]",
        "10: actions entry 1.node: expected text, got a list",
    ),
    "targets": (
        LOAD + STOP,
        "node: Slave 2",
        "host: {a: 1}",
        "10: actions entry 1.host: expected text, got a mapping",
    ),
    "script": (
        LOAD + RUN.replace("NAME", "good.sh"),
        "good.sh",
        "notes.txt",
        "11: actions entry 1.script_file: it does not begin with #! and the program that reads",
    ),
    "binary script": (
        LOAD + RUN.replace("NAME", "good.sh"),
        "good.sh",
        "binary",
        "11: actions entry 1.script_file: it is no text in UTF-8",
    ),
    "script's files": (
        LOAD + MORE.replace("NAME", "good.sh").replace("notes.txt, good.sh", "notes.txt"),
        "[notes.txt]",
        "[notes.txt, binary]",
        "12: actions entry 1.more_files entry 2: it is no text in UTF-8",
    ),
}
"""A valid plan, the text to replace, its replacement, and the line and start of the error."""


@pytest.mark.parametrize(("rest", "sound", "wrong", "words"), PAIRS.values(), ids=PAIRS)
def test_impossible_values_are_refused_and_limits_are_valid(
    tmp_path: Path, rest: str, sound: str, wrong: str, words: str
) -> None:
    """The error has the line of the key; the value at the limit is valid."""
    for name, content in SCRIPTS.items():
        (tmp_path / name).write_bytes(content)
    file = tmp_path / "plan.yaml"
    assert parse_plan(HEAD + rest, file, problems_of).cases()
    text = HEAD + rest.replace(sound, wrong)
    with pytest.raises(PlanError) as refused:
        parse_plan(text, file, problems_of)
    assert str(refused.value).startswith(f"{file}:{words.replace('1e-320', f'{1e-320:g}')}")
    assert "\n" not in str(refused.value)


RECORDED = """\
rate_msg_s: true, message_count: 100000000}
fail_when: {latency_p99_s: null, for_s: 3600}
control_runs: 1
link: {jitter_s: 5}
"""


def test_a_plan_of_before_can_still_be_read() -> None:
    """Copies beside recorded runs are read without these checks."""
    load = "load: {generator: amqp-0-9-1, green_threads: 2, duration_s: 20, "
    assert parse_plan(HEAD + load + RECORDED, Path("plan.yaml")).cases()
    refused(HEAD + load + RECORDED, "2 problems")


def test_nodes_are_called_as_runs_have_recorded_them(root: Path) -> None:
    """Labels of nodes equal those in the samples."""
    systems = set()
    for file in (root / "data/samples").glob("*/*/run.json"):
        facts = json.loads(file.read_text())
        case, recorded = facts["case"], [node["label"] for node in facts["system"]["nodes"]]
        system = SYSTEMS[case["system"]]
        labels = system.labels(case["topology"], case.get("settings", {}))
        assert labels is not None
        assert sorted(labels) == sorted(recorded)
        systems.add(system.name)
    assert {"rabbitmq", "qpid-dispatch"} <= systems
