"""A user's script as an action; it really runs, on this machine."""

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

import psutil
import pytest
from patience import eventually
from typing_extensions import override

from mqperf.base.errors import PlanError, SystemFault
from mqperf.base.processes import Process
from mqperf.hosts import LocalHost
from mqperf.lab.runner.timetable import Stage, Timetable
from mqperf.lab.systems.in_plans import problems_of
from mqperf.plan import ActionPlan, Plan
from mqperf.plan.file import parse_plan
from mqperf_command.lab import script as script_action

pytestmark = pytest.mark.starts_programs

if TYPE_CHECKING:
    from mqperf.lab.systems import Deployment

ACTION = "do: script, host: local, at_s: 1, for_s: 2, script_file: faults/one.sh, arguments: [a, 7]"
PLAN = f"""\
systems: {{rabbitmq: {{topologies: [cmsm]}}}}
test_cases: [rpc-call]
load: {{green_threads: 1, duration_s: 9}}
actions:
  - {{{ACTION}}}
"""


class Output(dict[str, str]):
    """The output that an action stores, and the values of its event when it has ended."""

    def __init__(self) -> None:
        super().__init__()
        self.ended: dict[str, object] = {}

    def tell(self, what: str, **more: object) -> None:
        if what == "action-ended":
            self.ended = more

    def keep(self, name: str, content: bytes) -> None:
        self[name] = content.decode()


class ListingHost(LocalHost):
    """This machine; keeps a list of the processes started on it."""

    def __init__(self) -> None:
        self.started: list[Process] = []

    @override
    def start(
        self,
        label: str,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        log: Path,
        cwd: Path | None = None,
    ) -> Process:
        self.started.append(super().start(label, argv, env=env, log=log, cwd=cwd))
        return self.started[-1]


class NoNodes:
    """A system without nodes."""

    nodes = ()


def timetable(script: str, output: Output, *, more: str = "", **keys: object) -> Timetable:
    """A timetable with a script that has ten minutes, and the content of a further file."""
    always = {"do": "script", "host": "local", "at_s": 0, "for_s": 600, "script_file": "one.sh"}
    action = ActionPlan.model_validate(always | keys)
    files = {"one.sh": script.encode(), "data/words.txt": more.encode()}
    stage = Stage(cast("Deployment", NoNodes()), [ListingHost()], files, output.keep)
    return Timetable([action], stage, output.tell)


def run(actions: Timetable) -> None:
    """Run the actions until the script has ended by itself."""
    actions.check()
    actions.begin(time.time())
    actions.act()
    [host] = actions._stage.hosts
    assert isinstance(host, ListingHost)
    assert eventually(lambda: [process.alive for process in host.started] == [False])
    actions.close()


def test_what_a_script_prints_is_kept_with_its_exit_code() -> None:
    """It gets its arguments unchanged, and the name of its host."""
    output = Output()
    run(timetable("#!/bin/sh\necho $# $2 on $MQPERF_HOST\n", output, arguments=("a b", 7)))
    assert output == {"1-script.log": "2 7 on local\n"}
    assert output.ended["exit_code"] == 0


def test_a_script_finds_its_files_where_it_runs() -> None:
    """They have the last part of their name in the plan's folder."""
    output = Output()
    files = ("data/words.txt",)
    run(timetable("#!/bin/sh\nls; cat words.txt\n", output, more="of mine\n", more_files=files))
    assert output == {"1-script.log": "words.txt\nof mine\n"}


def test_a_script_that_fails_fails_the_point_in_its_own_words() -> None:
    """The error has its exit code; its output is output all the same."""
    output = Output()
    script = "#!/bin/sh\necho trying\necho no such net >&2; exit 3\n"
    words = r"one\.sh 7 ended with exit code 3 on local: no such net"
    with pytest.raises(SystemFault, match=words):
        run(timetable(script, output, arguments=(7,)))
    assert output == {"1-script.log": "trying\nno such net\n"}
    assert output.ended["exit_code"] == 3
    assert "no such net" in str(output.ended["failure"])


def ended(actions: Timetable) -> None:
    """End the script while a process that it started still runs; both end."""
    actions.begin(time.time())
    actions.act()
    below = partial(psutil.Process().children, recursive=True)
    assert eventually(lambda: "sleep" in [process.name() for process in below()])
    [sleeping] = [process for process in below() if process.name() == "sleep"]
    processes = [sleeping, *sleeping.parents()[:1]]
    try:
        actions.close()
    finally:
        assert eventually(lambda: not any(map(psutil.Process.is_running, processes)))


@pytest.mark.parametrize(
    ("on_term", "code"),
    [("trap 'echo undone; exit 0' TERM", 0), ("", None), ("trap '' TERM", None)],
)
def test_a_script_that_goes_on_is_ended_with_all_that_it_started(
    on_term: str, code: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SIGTERM comes first, so that it can undo what it did."""
    monkeypatch.setattr(script_action, "END_GRACE_S", 0.5)
    output = Output()
    ended(timetable(f"#!/bin/sh\n{on_term}\nsleep 600 & wait\nsleep 600\n", output))
    assert output == {"1-script.log": "undone\n" if code == 0 else ""}
    assert output.ended["exit_code"] == code


def test_a_script_that_was_not_done_in_its_time_may_say_so() -> None:
    """It does so by its exit code, after SIGTERM."""
    output = Output()
    text = "#!/bin/sh\ntrap 'echo not grown; exit 1' TERM\nsleep 600 & wait\n"
    with pytest.raises(SystemFault, match="ended with exit code 1 on local: not grown"):
        ended(timetable(text, output))
    assert output.ended["exit_code"] == 1


@pytest.mark.parametrize(
    ("script", "changes", "words"),
    [
        ("echo\n", {}, "one.sh: it does not begin with #! and the program"),
        ("#!/bin/sh\n", {"host": "h7"}, "there is no host 'h7'; there are: local"),
    ],
)
def test_a_script_that_cannot_run_is_told_before_it_starts(
    script: str, changes: dict[str, str], words: str
) -> None:
    actions = timetable(script, Output())
    actions._actions = [actions._actions[0].model_copy(update=changes)]
    with pytest.raises(SystemFault, match=words):
        actions.check()


@pytest.fixture
def planned(tmp_path: Path) -> Callable[[str], Plan]:
    """A function that reads a plan in a folder that contains its script."""
    (tmp_path / "faults").mkdir()
    (tmp_path / "faults/one.sh").write_text("#!/bin/sh\n")
    return lambda text: parse_plan(text, tmp_path / "plan.yaml", problems_of)


def test_a_changed_script_is_another_case(planned: Callable[[str], Plan], tmp_path: Path) -> None:
    """The case has a digest of the content, and the plan carries the content."""
    plan = planned(PLAN)
    [action] = plan.cases()[0].actions
    name = action.parameters["script_file"]
    assert name.startswith("faults/one.sh (10 bytes, sha256 ")
    assert action.parameters["arguments"] == ("a", 7)
    assert plan.files == {name: b"#!/bin/sh\n"}
    (tmp_path / "faults/one.sh").write_text("#!/bin/sh\nexit 1\n")
    assert planned(PLAN).cases()[0].id != plan.cases()[0].id


@pytest.mark.parametrize(
    ("sound", "wrong", "words"),
    [
        ("faults/one.sh", "faults/two.sh", ":5: actions entry 1.script_file: the file cannot be"),
        (
            "faults/one.sh",
            "../one.sh",
            ":5: actions entry 1.script_file: the file cannot be used: it is outside the plan's f",
        ),
        (
            "arguments: [a, 7]",
            "more_files: [faults/one.sh, /etc/../etc/hostname, ../more/x]",
            ":5: actions entry 1.more_files entry 3: the file cannot be used: it is outside",
        ),
        ("script_file", "scriptfile", "actions entry 1.scriptfile: unknown key; did you mean 's"),
        ("script_file: faults/one.sh, ", "", "actions entry 1.script_file is missing"),
        (
            "arguments: [a, 7]",
            "more_files: [faults/one.sh, faults/words.txt]",
            "actions entry 1.more_files entry 2: the file cannot be",
        ),
        (
            "arguments: [a, 7]",
            "more_files: [faults/one.sh, ./faults/one.sh]",
            "actions entry 1.more_files: two are called 'one.sh': rename one",
        ),
        ("host: local", "link: true", "actions entry 1.link: script is done to a node: say node"),
        ("do: script", "do: scrip", "actions entry 1.do: unknown action 'scrip'; did you mean"),
        (
            ACTION,
            "do: freeze, node: Master, at_s: 1, for_s: 2, hard: true",
            "actions entry 1.hard: unknown key; known: do, node, link, host, at_s, for_s",
        ),
    ],
)
def test_a_plan_that_cannot_be_is_refused(
    planned: Callable[[str], Plan], sound: str, wrong: str, words: str
) -> None:
    with pytest.raises(PlanError) as refused:
        planned(PLAN.replace(sound, wrong))
    assert words in str(refused.value)
