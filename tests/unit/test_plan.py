"""Plans: every point of the sweep is a case, whose id depends on its parameters."""

from itertools import groupby
from pathlib import Path

import pytest

from mqperf.base.errors import PlanError
from mqperf.base.redaction import without_passwords
from mqperf.lab.systems.in_plans import problems_of
from mqperf.plan import ID_DEFAULTS, Case, redacted
from mqperf.plan.file import load_plan, parse_plan

HERE = Path("here.yaml")
POINT: dict[str, object] = {
    "system": "rabbitmq",
    "topology": "cmsm",
    "queues": "classic",
    "test_case": "rpc-call",
    "green_threads": 1,
    "duration_s": 3,
}
SOUND = """\
systems:
  rabbitmq:
    topologies: [cmsm, cs1ss2]
    queues: [classic]
test_cases: [rpc-call, notify]
load:
  green_threads: [1, 10]
  processes: [2]
  duration_s: 8
repeats: 2
"""


def case(**changes: object) -> Case:
    """A valid case with some parameters changed."""
    parameters = {
        "system": "rabbitmq",
        "topology": "cmsm",
        "queues": "classic",
        "test_case": "rpc-call",
        "green_threads": 10,
        "duration_s": 8,
    }
    return Case.model_validate(parameters | changes)


def test_a_plan_is_multiplied_out() -> None:
    """Topologies x test cases x threads x repeats, each a separate case."""
    cases = parse_plan(SOUND, HERE).cases()
    assert len(cases) == len({c.id for c in cases}) == 2 * 2 * 2 * 2
    assert {c.threads for c in cases} == {2, 20}


def test_repeats_are_interleaved() -> None:
    """All points of the first repeat precede those of the second."""
    repeats = [c.repeat for c in parse_plan(SOUND, HERE).cases()]
    assert repeats == sorted(repeats)


def test_a_random_order_is_repeatable() -> None:
    """Equal seeds give equal orders, other seeds other ones."""
    plans = [parse_plan(f"{SOUND}order: random\nseed: {seed}\n", HERE) for seed in (1, 1, 2)]
    first, again, other = ([c.id for c in plan.cases()] for plan in plans)
    assert first == again
    assert first != other
    assert sorted(first) == sorted(other)


@pytest.mark.parametrize(
    "change",
    [{"duration_s": 9}, {"parameters": {"targets": "shared"}}, {"settings": {"management": True}}],
)
def test_a_changed_parameter_is_a_new_case(change: dict[str, object]) -> None:
    """The id has a hash of all parameters."""
    assert case(**change).id != case().id


def test_repeats_share_their_point() -> None:
    """Repeats have a common point, but different ids."""
    assert case(repeat=1).point == case(repeat=2).point
    assert case(repeat=1).id != case(repeat=2).id


def test_the_load_runs_longer_than_the_window() -> None:
    """Warm-up and cool-down are outside of the window."""
    assert case(warmup_s=2, cooldown_s=1).load_s == 2 + 8 + 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "here.yaml:1: not YAML"),
        ("nothing", "a plan is a mapping"),
        (
            SOUND.replace("queues:", "queue:"),
            "here.yaml:4: systems.rabbitmq.queue: unknown key; did you mean 'queues'",
        ),
        (SOUND.replace("cmsm", "cmms"), "here.yaml:3: .*'cmms'; did you mean 'cmsm'"),
        (SOUND.replace("[classic]", "[lazy]"), "here.yaml:4: .*'lazy'; known: classic"),
        (SOUND.replace("[1, 10]", "[0]"), "here.yaml:7: .*expected at least 1, got 0"),
        (SOUND.replace("[1, 10]", "[]"), "here.yaml:7: load.green_threads is empty"),
        (SOUND.replace("duration_s: 8", "duration_s: -8"), "here.yaml:9: .*got -8"),
        (SOUND.replace("duration_s: 8", "duration_s: long"), "here.yaml:9: .*got 'long'"),
        (SOUND.replace("  duration_s: 8\n", ""), "here.yaml:6: load.duration_s is missing"),
        (
            SOUND.replace("rpc-call", "rpc-calls"),
            "here.yaml:5: .*unknown test case 'rpc-calls'; did you mean 'rpc-call'",
        ),
        (SOUND.replace("repeats: 2", "repeats: 0"), "here.yaml:10: .*got 0"),
    ],
)
def test_a_mistake_is_named_with_its_line(text: str, message: str) -> None:
    """One sentence with file, line and correction."""
    with pytest.raises(PlanError, match=message):
        parse_plan(text, HERE)


def test_a_missing_plan_is_named() -> None:
    """The error has the name of the file."""
    with pytest.raises(PlanError, match=r"nowhere\.yaml: cannot read"):
        load_plan(Path("nowhere.yaml"))


@pytest.mark.parametrize("name", ["quickstart", "rabbitmq"])
def test_the_plans_of_the_project_are_sound(root: Path, name: str) -> None:
    """The name of a plan is that of its file."""
    plan = load_plan(root / "plans" / f"{name}.yaml")
    assert plan.name == name
    assert plan.cases()


def test_the_published_sweep_is_whole(root: Path) -> None:
    """10 green threads x 1, 2, 5, 7, 10 processes, four topologies, three test cases, 100 s."""
    cases = load_plan(root / "plans" / "rabbitmq.yaml").cases()
    assert len(cases) == 5 * 4 * 3
    assert {c.threads for c in cases} == {10, 20, 50, 70, 100}
    assert {c.duration_s for c in cases} == {100}


def test_no_password_of_a_url_survives() -> None:
    """Passwords are replaced in everything that is written."""
    cleaned = redacted({"urls": ["rabbit://nova:s3cr:et@host:5672/", "rabbit://host"]})
    assert cleaned == {"urls": ["rabbit://nova:***@host:5672/", "rabbit://host"]}
    assert "secret" not in without_passwords("at amqp://user:secret@10.0.0.1, refused")


def test_ids_know_the_values_that_they_leave_out() -> None:
    """A later parameter needs the value that earlier cases had."""
    case = Case.model_validate(POINT)
    dumped = case.model_dump(by_alias=True, exclude={"parameters"})
    defaults = {name: value for name, value in dumped.items() if name not in POINT}
    assert defaults | {"targets": "own"} == ID_DEFAULTS


def test_ids_survive_another_default() -> None:
    """Recorded cases keep their ids; cases with the new default have new ones."""

    class Later(Case):
        warmup_s: int = 9

    assert Later.model_validate(POINT | {"warmup_s": 2}).id == Case.model_validate(POINT).id
    assert Later.model_validate(POINT).id == Case.model_validate(POINT | {"warmup_s": 9}).id


def test_ids_are_what_they_were() -> None:
    """Ids of a point, a repeat and a control run, formerly "sentinel"."""
    case = Case.model_validate(POINT)
    recorded = Case.model_validate(POINT | {"warmup_s": 1})
    assert recorded.id == "rabbitmq-cmsm-classic-rpc-call-t0001-p1-r1-c6dbcb43"
    assert case.model_copy(update={"repeat": 2}).point == case.point
    control = Case.model_validate(POINT | {"sentinel": 1})
    assert control.id == case.model_copy(update={"control_run": 1}).id
    assert control.point == case.point


def test_every_key_of_a_load_may_be_a_list() -> None:
    """Each combination is a case; green threads vary fastest."""
    text = SOUND.replace("duration_s: 8", "duration_s: [3, 5]\n  payload_bytes: [100, 1000]")
    plan = parse_plan(text, HERE)
    cases = plan.cases()
    assert len({case.id for case in cases}) == len(cases) == plan.number_of_cases == 64
    loads = [(c.parameters["payload_bytes"], c.duration_s, c.green_threads) for c in cases]
    assert loads[:5] == [(100, 3, 1), (100, 3, 10), (100, 5, 1), (100, 5, 10), (1000, 3, 1)]


def test_a_single_value_needs_no_list() -> None:
    """It gives the same cases as a list of one."""
    listed, single = (SOUND.replace("[1, 10]", text) for text in ("[1]", "1"))
    assert parse_plan(single, HERE).cases() == parse_plan(listed, HERE).cases()


def test_equal_numbers_of_a_parameter_are_one_id() -> None:
    """1 and 1.0 are the same point."""
    assert case(parameters={"pause_s": 1}).id == case(parameters={"pause_s": 1.0}).id


@pytest.mark.parametrize("key", ["repeat", "sentinel", "Repeat", "control_run"])
def test_a_key_of_a_case_is_no_parameter(key: str) -> None:
    """A load cannot set keys of cases."""
    with pytest.raises(PlanError, match=f"'{key}' is no parameter of a load"):
        parse_plan(SOUND.replace("duration_s: 8", f"duration_s: 8\n  {key}: 2"), HERE)


def test_a_setting_with_a_column_is_swept() -> None:
    """Cases of a value stay together even in random order, as each restarts the system."""
    settings = "queues: [classic]\n    settings: {memory_watermark_mb: [256, 512], urls: []}"
    text = SOUND.replace("queues: [classic]", settings) + "order: random\n"
    plan = parse_plan(text, HERE, problems_of)
    marks = [case.settings["memory_watermark_mb"] for case in plan.cases()]
    assert [mark for mark, _ in groupby(marks)] == [256, 512, 256, 512]
    assert plan.settings_of(plan.cases()[0]) == {"memory_watermark_mb": 256, "urls": []}
    with pytest.raises(PlanError, match="memory_watermark_mb entry 2: expected at least 64, got 1"):
        parse_plan(text.replace("512", "1"), HERE, problems_of)
