"""Preview and status of plans, readable for plans of any size."""

import shlex
from pathlib import Path

import pytest

from mqperf.base.errors import HostError, MqperfError
from mqperf.front.preview import CASES_SHOWN, COMMANDS_SHOWN, preview
from mqperf.front.status import status
from mqperf.lab.load import LAUNCHERS
from mqperf.lab.systems.in_plans import problems_of
from mqperf.plan import MAX_CASES
from mqperf.plan.file import load_plan, parse_plan

pytestmark = pytest.mark.starts_programs

PLANS = Path(__file__).parents[2] / "plans"
LARGE = f"""\
systems:
  rabbitmq: {{topologies: [cmsm, cs1ss2], queues: [classic]}}
test_cases: [rpc-call]
load: {{green_threads: [{", ".join(map(str, range(1, 51)))}], processes: [1000], duration_s: 1}}
repeats: 100
"""


SMALL = """\
systems: {rabbitmq: {topologies: [cmsm]}}
test_cases: [rpc-call]
load: {green_threads: 1, duration_s: 1}
"""


def test_a_large_plan_is_shown_in_part() -> None:
    """The first cases and commands are shown, the rest counted; totals are of all."""
    plan = parse_plan(LARGE, Path("large.yaml"))
    assert plan.number_of_cases == len(plan.cases()) == MAX_CASES
    lines = preview(plan).splitlines()
    assert lines[1].startswith("10000 cases")
    assert len(lines) < CASES_SHOWN * (COMMANDS_SHOWN + 4) + 10
    assert f"and {MAX_CASES - CASES_SHOWN} cases more; --all shows them" in lines
    assert f"      and {2000 - COMMANDS_SHOWN} commands more; --all shows them" in lines


def test_all_of_a_plan_can_be_shown(root: Path) -> None:
    """On request every case is shown with every command."""
    text = (root / "plans" / "rabbitmq.yaml").read_text()
    plan = parse_plan(text, Path("rabbitmq.yaml"))
    part, everything = preview(plan), preview(plan, everything=True)
    assert "--all" in part
    assert "--all" not in everything
    assert everything.count("run folder ") == len(plan.cases())
    assert everything.count("      $ ") == sum(2 * case.processes for case in plan.cases())


def test_no_host_is_reached_unless_asked(tmp_path: Path) -> None:
    """Without --check-hosts only the number of hosts matters, not their existence."""
    hosts = tmp_path / "hosts.yaml"
    groups = "broker: {hosts: {b1.invalid: }}\nserver: {hosts: {s1.invalid: }}\n"
    hosts.write_text(f"{groups}client: {{hosts: {{c1.invalid: , c2.invalid: }}}}\n")
    plan = parse_plan(f"hosts: {hosts}\n{SMALL}", Path("small.yaml"))
    text = preview(plan)
    assert "1 green thread x 1 process x 2 hosts" in text
    assert text.startswith(f"the hosts of {hosts} were not contacted: --check-hosts shows what")
    assert preview(parse_plan(SMALL, Path("small.yaml")), hosts=str(hosts)) == text
    with pytest.raises(HostError, match=r"b1\.invalid: its name is unknown"):
        preview(plan, check_hosts=True)


@pytest.mark.parametrize("plan", sorted(PLANS.glob("*.yaml")), ids=lambda file: file.stem)
def test_what_stands_after_a_prompt_can_be_typed(plan: Path) -> None:
    """Lines after "$" are commands; processes with files of a run are described."""
    loaded = load_plan(plan, problems_of)
    lines = [line.strip() for line in preview(loaded, everything=True).splitlines()]
    typed = [shlex.split(line[2:]) for line in lines if line.startswith("$ ")]
    by_hand = [case for case in loaded.cases() if LAUNCHERS[case.generator].typed]
    assert len(typed) == sum(2 * case.processes * case.hosts for case in by_hand)
    assert all(words[:2] == ["python", "simulator.py"] for words in typed)


def test_a_plan_of_a_chain_says_who_its_processes_are(root: Path) -> None:
    """A single process has no range of numbers."""
    text = preview(load_plan(root / "plans/wan-quick.yaml"))
    assert "\n      server-1, agents: compute, l2-agent\n" in text
    assert "\n      client-1, control plane: api, conductor, scheduler, neutron;" in text
    stress = preview(load_plan(root / "plans/stress-quick.yaml"))
    line = "server-1: the generator of AMQP 0-9-1, which reads server-1.orders"
    assert f"\n      {line}\n" in stress


def test_words_of_a_command_are_quoted() -> None:
    """The printed line splits into the arguments of the run."""
    plan = parse_plan(
        "systems: {rabbitmq: {topologies: [cmsm]}}\ntest_cases: [command]\n"
        "load: {generator: command, command: \"printf '%s two' a\", green_threads: 1,"
        " duration_s: 1}\n",
        Path("quoted.yaml"),
    )
    [line] = [line for line in preview(plan).splitlines() if line.startswith("      $ ")]
    assert shlex.split(line)[1:] == ["printf", "%s two", "a"]


def test_the_status_of_a_recorded_sweep(root: Path) -> None:
    """A line for each case, then the totals."""
    *lines, sums = status(root / "data" / "samples" / "runs").splitlines()
    assert len(lines) == 24
    assert sums.startswith("24 done")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "no runs folder: it has no plan.yaml"),
        (b"", "plan.yaml: a plan is a mapping"),
        (b"\xff\xfe", "plan.yaml:1: not UTF-8"),
        (b"systems: {rabbitmq: {topol", "plan.yaml:1: not YAML"),
        (b"services: {web: {image: nginx}}", "plan.yaml: 3 problems"),
        ("directory", "plan.yaml: "),
    ],
)
def test_a_folder_without_a_sound_plan_has_no_status(
    content: bytes | str | None, message: str, tmp_path: Path
) -> None:
    """One error with the name of the file."""
    file = tmp_path / "plan.yaml"
    if content == "directory":
        file.mkdir()
    elif isinstance(content, bytes):
        file.write_bytes(content)
    with pytest.raises(MqperfError) as error:
        status(tmp_path)
    assert str(error.value).startswith(str(tmp_path))
    assert message in str(error.value)


def test_what_is_no_folder_has_no_status(tmp_path: Path) -> None:
    """Files and missing paths are refused."""
    (tmp_path / "file").touch()
    for name in ("file", "nothing"):
        with pytest.raises(MqperfError, match=f"{name}: no runs folder"):
            status(tmp_path / name)
