"""RPC chains: valid chains, the instructions of processes, and the steps of a creation."""

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError
from viewed import contents

from mqperf.base.errors import LoadError, PlanError
from mqperf.hosts import LocalHost
from mqperf.lab.load import Access, Endpoint, LoadJob
from mqperf.lab.load.oslo.library import Library
from mqperf.lab.load.oslo.releases import RELEASES
from mqperf.lab.systems.in_plans import problems_of
from mqperf.onhost.load.record import Record
from mqperf.pages.sections.forms import frame
from mqperf.plan import Case
from mqperf.plan.columns import TABLES
from mqperf.plan.file import parse_plan
from mqperf.plan.load import GENERATORS, pairs
from mqperf.record import Facts, Run, Whole
from mqperf.study import tables as all_tables
from mqperf_openstack.lab.rpc_chain import commands, describe, queues, steps
from mqperf_openstack.onhost.chain.steps import Steps
from mqperf_openstack.plan.chain import Chain, find, names
from mqperf_openstack.record.steps import read_header, read_steps
from mqperf_openstack.study.rpc_chain import account
from mqperf_openstack.study.steps import BETWEEN, rows

ACCESS = Access(
    Endpoint("amqp-0-9-1", ("127.0.0.1:5001",), "user", "hidden$1", "run"),
    Endpoint("amqp-0-9-1", ("127.0.0.1:5002",), "user", "hidden$1", "run"),
)
STEPS: list[dict[str, Any]] = [
    {"step": "begin", "kind": "cast", "from": "api", "to": "conductor", "request_bytes": 10},
    {"step": "build", "kind": "cast", "from": "conductor", "to": "compute", "request_bytes": 20},
    {
        "step": "save",
        "kind": "call",
        "from": "compute",
        "to": "conductor",
        "request_bytes": 30,
        "reply_bytes": 5,
        "processing_ms": 10,
    },
    {"step": "push", "kind": "fan-out", "from": "api", "to": "compute", "request_bytes": 6},
    {
        "step": "end",
        "kind": "call",
        "from": "compute",
        "to": "conductor",
        "request_bytes": 30,
        "reply_bytes": 5,
    },
]


def chain(steps: Sequence[object] = STEPS) -> Chain:
    fields = {"title": "t", "control": ["api", "conductor"], "agents": ["compute"], "steps": steps}
    return Chain.model_validate(fields)


def case(**changes: object) -> Case:
    fixed = {
        "system": "rabbitmq",
        "topology": "cmsm",
        "queues": "classic",
        "test_case": "rpc-chain",
        "generator": "rpc-chain",
        "green_threads": 2,
        "warmup_s": 0,
        "cooldown_s": 0,
        "duration_s": 5,
    }
    return Case.model_validate(fixed | changes)


def job(tmp_path: Path, planned: Case) -> LoadJob:
    library = Library(RELEASES["rabbitmq"], "/host/python", (Path("/host/inside"),), {})
    out = Path("/out")
    return LoadJob(
        planned, "run.7", ACCESS, library, pairs(planned), tmp_path, out, LocalHost.address
    )


@pytest.mark.parametrize("name", names())
def test_shipped_chains_are_connected_and_have_sources(name: str) -> None:
    """Each step starts where the one before ended, and names the file that it was found in."""
    shipped = find(name)
    assert all(step.source for step in shipped.steps)
    assert shipped.first_at_agents > 0


def test_round_trips_are_those_that_a_creation_waits_for() -> None:
    """A call with a reply counts one, a one-way message a half, a fan-out nothing."""
    sample = chain()
    assert [sample.round_trips(number) for number in range(5)] == [0, 0.5, 1, 0, 0.5]
    vm = find("vm-creation")
    assert sum(vm.round_trips(number) for number in range(len(vm.steps))) == 11


def test_a_fan_out_belongs_to_the_call_before_it() -> None:
    """The control plane sends its fan-out while it handles the agents' call before it."""
    sample = chain()
    assert sample.meanwhile(2) == [3]
    assert not sample.moves(2)
    assert sample.moves(4)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ([STEPS[2], *STEPS], "save: the chain is not at compute"),
        ([*STEPS[:2], STEPS[0], *STEPS[2:]], "begin: the chain is not at api"),
        (STEPS[:2], "a chain ends with a call or cast to the control plane"),
        ([*STEPS[:2], STEPS[3], *STEPS[2:]], "push: the chain is not at api"),
        ([{**STEPS[0], "to": "nobody"}, *STEPS[1:]], "begin: nobody is no service of the chain"),
        ([{**STEPS[0], "reply_bytes": 4}, *STEPS[1:]], "begin: a call has reply_bytes"),
        ([{**STEPS[0], "kind": "shout"}, *STEPS[1:]], "'call', 'cast' or 'fan-out'"),
    ],
)
def test_a_chain_that_cannot_be_walked_is_refused(wrong: list[object], words: str) -> None:
    """The error names the step at which it breaks."""
    with pytest.raises(ValidationError, match=words):
        chain(wrong)


def test_an_unknown_chain_is_told_the_known_ones() -> None:
    """The error has the line of the plan, and the most similar name."""
    text = (
        "systems: {rabbitmq: {topologies: [cmsm], queues: [classic]}}\n"
        "test_cases: [rpc-chain]\n"
        "load: {generator: rpc-chain, chain: vm-creaton, green_threads: 1, duration_s: 1}\n"
    )
    with pytest.raises(PlanError, match=r"here\.yaml:3.*vm-creation"):
        parse_plan(text, Path("here.yaml"), problems_of)


def test_passwords_are_in_private_files_only(tmp_path: Path) -> None:
    """Neither arguments nor variables contain the URL; each role connects to its own node."""
    started = commands(job(tmp_path, case()))
    assert [command.label for command in started] == ["server-1", "client-1"]
    for command in started:
        assert "hidden" not in repr(command)
        task = json.loads(command.files[f"{command.label}.chain"])
        assert task["config"] == str(tmp_path / f"{command.kind}.conf")
    assert "127.0.0.1:5001" in started[1].files["client.conf"]
    assert "127.0.0.1:5002" in started[0].files["server.conf"]


def test_processing_times_are_scaled(tmp_path: Path) -> None:
    """By default there is no delay; twice the scale is twice the time."""
    assert {step["processing_s"] for step in steps(chain(), 0)} == {0}  # type: ignore[call-overload,index]
    assert steps(chain(), 2)[2]["processing_s"] == 0.02  # type: ignore[call-overload,index]
    started = commands(job(tmp_path, case(parameters={"processing_scale": 1})))
    scaled = json.loads(started[0].files["server-1.chain"])["steps"]
    assert scaled[1]["processing_s"] == 0.05


def test_queues_and_sides_are_told() -> None:
    """The queues to delete after a run, and the description of both sides."""
    planned = case(processes=2)
    assert {"run-7-conductor.2", "run-7-compute", "run-7-l2-agent.1"} <= {*queues(planned, "run.7")}
    agents, control = describe(planned)
    assert agents == "server-1 to server-2, agents: compute, l2-agent"
    assert "2 x vm-creation (18 steps) at a time for 5 s" in control


START = 1_000_000.0
AHEAD = 0.25
"""Seconds by which the clock of the agents' host is ahead."""


def written(folder: Path, *, torn: bool = False, failed: bool = False) -> Whole:
    """A run of two creations, each of 100 ms, with the agents on another host.

    Steps take 10, 20, 30 (of which the fan-out takes 5) and 25 ms, with 15 ms in between.
    """
    load = folder / "load"
    load.mkdir(parents=True)
    of_chain = {"chain": "test", "steps": steps(chain(), 0)}
    records: dict[str, Any] = {}
    for label, kind, streams in (
        ("client-1", "client", ["sent", "round_trip", "error"]),
        ("server-1", "server", ["received"]),
    ):
        header: dict[str, object] = {"label": label, "kind": kind, "test_case": "rpc-chain"}
        records[kind] = (Record(header, streams), Steps({"label": label, "kind": kind, **of_chain}))
    (client, here), (_, there) = records["client"], records["server"]
    client.header["start"] = START
    for at in (START + 1, START + 2):
        client.add("sent", at)
        here.add(at, 0, started=at, passed=at + 0.010)
        here.add(at, 1, started=at + 0.015)
        there.add(at, 1, passed=at + AHEAD + 0.035)
        there.add(at, 2, started=at + AHEAD + 0.040, passed=at + AHEAD + 0.070)
        here.add(at, 3, started=at + 0.055, passed=at + 0.060)
        if failed and at == START + 2:
            client.add("error", at, at + 5)
            continue
        there.add(at, 4, started=at + AHEAD + 0.075)
        if not torn:
            here.add(at, 4, passed=at + 0.100)
        client.add("round_trip", at, at + 0.100)
    for kind, label in (("client", "client-1"), ("server", "server-1")):
        record, walked = records[kind]
        record.save(load / f"{label}.messages")
        walked.save(load / f"{label}.steps")
    before = {"offset_s": AHEAD, "bound_s": 0.001}
    facts = Facts.model_validate(
        {
            "schema": 2,
            "case": case().model_dump(),
            "window": {"start": START, "end": START + 5},
            "clocks": {
                "c": {"before": {"offset_s": 0.0}, "after": {"offset_s": 0.0}},
                "s": {"before": before, "after": before},
            },
            "processes": [
                {"label": "server-1", "kind": "server", "host": "s", "reported": True},
                {"label": "client-1", "kind": "client", "host": "c", "reported": True},
            ],
        }
    )
    run = Run(folder, "test", "done")
    return Whole(run, facts, case(), (START, START + 5))


def table(run: Whole) -> pd.DataFrame:
    """The rows of a run's steps."""
    return pd.DataFrame(rows(run))


def test_steps_make_up_a_creation(tmp_path: Path) -> None:
    """Each step is timed by a single clock, of whichever host; all shares add up to one."""
    step_rows = all_tables.conform("steps", table(written(tmp_path)))
    assert list(step_rows.columns) == list(TABLES["steps"].columns)
    took = step_rows.set_index("step")["latency_mean_s"].astype(float)
    expected = {"begin": 0.010, "build": 0.020, "save": 0.030, "push": 0.005, "end": 0.025}
    assert took.drop(BETWEEN).to_dict() == pytest.approx(expected, abs=1e-6)
    assert took[BETWEEN] == pytest.approx(0.015, abs=1e-6)
    shares = step_rows.set_index("step")["creation_share"]
    assert shares.sum() == pytest.approx(1)
    assert shares.isna().to_dict()["push"]
    assert set(step_rows["samples"]) == {2}


def test_steps_timed_by_two_clocks_are_marked(tmp_path: Path) -> None:
    """Only steps that start on one host and end on the other are uncertain."""
    unsure_s = table(written(tmp_path)).set_index("step")["latency_uncertainty_s"]
    assert unsure_s[["build", "end"]].tolist() == pytest.approx([0.001, 0.001])
    assert unsure_s[["begin", "save", "push"]].tolist() == [0, 0, 0]


def test_the_last_step_of_a_failed_creation_is_named(tmp_path: Path) -> None:
    """The error belongs to the step that began last, and is in no mean."""
    step_rows = table(written(tmp_path, failed=True)).set_index("step")
    assert step_rows["errors"].dropna().to_dict() == {
        **dict.fromkeys(("begin", "build", "save", "end"), 0),
        "push": 1,
    }
    assert set(step_rows["samples"]) == {1}


def test_sound_steps_contradict_nothing(tmp_path: Path) -> None:
    """All steps of every completed creation are recorded."""
    assert account(written(tmp_path), {}).disagreements == ()


def test_creations_without_all_their_steps_are_told(tmp_path: Path) -> None:
    """A record that lost steps is a doubt."""
    [disagreement] = account(written(tmp_path, torn=True), {}).disagreements
    assert disagreement == "steps: 2 creations came to their end without all 5 steps"


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda content: content[:-8], "its header promises"),
        (lambda content: b"{}\n" + content, "is no mqperf-steps file"),
        (lambda content: content.replace(b'"label": "server-1"', b'"label": "server-2"'), "not of"),
        (lambda content: content.replace(b'"kind": "server"', b'"kind": "client"'), "not of"),
    ],
)
def test_damaged_steps_are_refused(
    tmp_path: Path, damage: Callable[[bytes], bytes], words: str
) -> None:
    """A truncated file, or one of another process, gives no numbers."""
    run = written(tmp_path)
    file = run.folder / "server-1.steps"
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(LoadError, match=words):
        account(run, {})


@pytest.mark.parametrize(
    ("step", "seconds", "words"),
    [
        (0, 0.2, r"began at 1\.000 s goes back by 0.195 s at step 2 \(build\)"),
        (3, -0.2, r"began at 1\.000 s goes back by 0.195 s at step 4 \(push\)"),
        (4, 0.2, r"began at 1\.000 s goes back by 0.200 s at step 5 \(end\)"),
    ],
)
def test_steps_that_go_back_are_named(
    tmp_path: Path, step: int, seconds: float, words: str
) -> None:
    """File and second are named; such steps are in no mean, and no share is negative."""
    run = written(tmp_path)
    file = run.folder / "client-1.steps"
    header, begin = read_header(file)
    columns = np.frombuffer(file.read_bytes()[begin:], dtype="<f8").reshape(4, header.count).copy()
    columns[3, columns[1] == step] += seconds
    file.write_bytes(file.read_bytes()[:begin] + columns.tobytes())
    with pytest.raises(LoadError, match=r"client-1.steps: by this file.*" + words):
        account(run, {})


def test_a_step_of_an_unknown_creation_is_refused(tmp_path: Path) -> None:
    """A creation is identified by its start, which its client recorded."""
    run = written(tmp_path)
    foreign = Steps({"label": "server-1", "kind": "server", "chain": "test"})
    header, _ = read_steps(run.folder / "server-1.steps")
    foreign.header["steps"] = [step.model_dump(by_alias=True) for step in header.steps]
    foreign.add(START + 1.5, 2, started=START + 2)
    foreign.save(run.folder / "server-1.steps")
    with pytest.raises(LoadError, match="a creation that its client did not begin"):
        account(run, {})


def test_a_page_shows_what_a_creation_is_made_of(tmp_path: Path) -> None:
    """There is a row per step with milliseconds and shares; a sentence gives the round trips."""
    figures = table(written(tmp_path)).assign(point="p", threads=2)
    runs = figures.assign(green_threads=2, processes=1, hosts=1)
    [content] = contents({"steps": figures, "runs": runs}, "steps", "rpc-chain")
    shown = frame(content)
    rows = dict(zip(shown["step"], shown.iloc[:, -1], strict=True))
    gap = "\N{NO-BREAK SPACE}"
    assert rows["save"] == f"30.0{gap}(30.0{gap}%)"
    assert rows["build"] == f"20.0 ± 1{gap}(20.0{gap}%)"
    assert rows["push"] == "5.0"
    text = " ".join(content.words)
    assert "waits for 2 round trips" in text
    assert "at least 4 times its delay each way" in text
    assert "± is" in text


def test_the_guide_tells_every_step(root: Path) -> None:
    """The documentation lists every step of the chain with its kind and both services."""
    guide = (root / "docs" / "howto" / "vm-creation.md").read_text()
    for hop in find("vm-creation").steps:
        pattern = rf"\| {re.escape(hop.step)} \| {hop.kind} \| {hop.sender} \| {hop.receiver} \|"
        assert re.search(pattern, guide), hop.step


def test_the_system_supports_the_generator() -> None:
    """The generator of the test case is one of the system's."""
    assert "rpc-chain" in GENERATORS["rpc-chain"].test_cases
