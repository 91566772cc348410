"""Trials whose processes cannot start."""

from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from mqperf.base.errors import HostError, MqperfError, SystemFault
from mqperf.hosts import Hosts, LocalHost
from mqperf.lab.load import Access, Endpoint
from mqperf.lab.load.oslo.releases import RELEASES
from mqperf.lab.load.simulator import environments
from mqperf.lab.load.simulator.environments import Environment
from mqperf.lab.runner.bench import Bench
from mqperf.lab.runner.phases import begin
from mqperf.lab.runner.processes import Processes
from mqperf.lab.runner.timetable import Timetable
from mqperf.lab.runner.trial import Audience
from mqperf.plan import Case
from mqperf.record import runs

pytestmark = pytest.mark.starts_programs

if TYPE_CHECKING:
    from mqperf.lab.systems import Deployment

CASE = Case(
    system="zeromq",
    topology="direct",
    queues="none",
    test_case="rpc-call",
    green_threads=1,
    duration_s=1,
)


REDIS = Endpoint("zmtp", ("127.0.0.1:1",))


def bench(
    tools: Path,
    trouble: MqperfError | None = None,
    cleaned: Callable[[str], object] = lambda _run_id: None,
    *,
    ends_with_us: bool = True,
) -> Bench:
    """A system without nodes, whose clean-up may fail, and a load generator that is missing."""

    def clean_up(run_id: str, _queues: Sequence[str]) -> None:
        cleaned(run_id)
        if trouble is not None:
            raise trouble

    facts: dict[str, object] = {"version": "1"}
    deployment = SimpleNamespace(
        nodes=(),
        ends_with_us=ends_with_us,
        provision=lambda *_: Access(REDIS, REDIS),
        clean_up=clean_up,
        check=lambda: None,
        collect=lambda _: None,
        facts=lambda: facts,
    )
    tools.mkdir()
    for name in environments.TOOLS:
        (tools / name).touch()
    environment = Environment(
        RELEASES["zeromq"],
        python="/absent/python",
        path=(tools,),
        simulator=tools / "simulator.py",
        versions=environments._hashes(tools),
        tools=tools,
    )
    host = LocalHost()
    system = cast("Deployment", deployment)
    by_host = {"simulator": {host.name: environment}}
    return Bench(Hosts.alone(host), system, by_host, {"system": facts})


def test_a_process_that_cannot_start_fails_its_run(tmp_path: Path) -> None:
    """The error has the name of the missing program; nothing incomplete remains."""
    begun = begin(CASE, 1, tmp_path, bench(tmp_path / "tools"), Audience(print))
    with pytest.raises(HostError, match="/absent/python is missing or not executable") as error:
        begun.agree()
    run = begun.trial.fail(str(error.value))
    begun.trial.close()
    assert run.facts().failure == str(error.value)
    assert [attempt.status for attempt in runs(tmp_path)] == ["failed"]


def test_an_interruption_is_no_failure_of_a_trial_that_begins(tmp_path: Path) -> None:
    """Even if provisioning cannot be undone, nothing of the trial remains."""

    def provision(_case: Case, _run_id: str) -> Access:
        try:
            raise KeyboardInterrupt
        finally:
            raise SystemFault("delete_vhost did not end")

    interrupted = bench(tmp_path / "tools")
    vars(interrupted.deployment)["provision"] = provision
    with pytest.raises(KeyboardInterrupt):
        begin(CASE, 1, tmp_path / "runs", interrupted, Audience(print))
    assert list(runs(tmp_path / "runs")) == []


def interrupt(_timetable: object = None) -> None:
    raise KeyboardInterrupt


def fail(_processes: object = None) -> None:
    raise SystemFault("the process was interrupted")


def test_an_interruption_is_no_fault_of_a_trial_that_is_closed(tmp_path: Path) -> None:
    """Even if an error follows from it."""
    closed = bench(tmp_path / "tools")
    trial = begin(CASE, 1, tmp_path / "runs", closed, Audience(print)).trial
    trial.held.callback(fail)
    trial.held.callback(interrupt)
    with pytest.raises(KeyboardInterrupt):
        trial.close()
    assert closed.faults == []


def test_an_interruption_is_no_reason_of_a_trial_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if an error follows from it."""
    trial = begin(CASE, 1, tmp_path / "runs", bench(tmp_path / "tools"), Audience(print)).trial
    with monkeypatch.context() as patch:
        patch.setattr(Timetable, "close", interrupt)
        patch.setattr(Processes, "stop", fail)
        with pytest.raises(KeyboardInterrupt):
            trial.fail("a client has died")
    trial.close()


def test_a_clean_up_that_fails_spoils_the_system_only(tmp_path: Path) -> None:
    """The trial succeeds; the system reports the fault, and is not cleaned up again."""
    spoiled = bench(tmp_path / "tools", SystemFault("delete_vhost did not end"))
    begin(CASE, 1, tmp_path, spoiled, Audience(print)).trial.close()
    with pytest.raises(SystemFault, match="cleaning up after a run failed: delete_vhost did not"):
        spoiled.check()
    begin(CASE, 2, tmp_path / "more", spoiled, Audience(print)).trial.close()
    assert spoiled.faults == ["delete_vhost did not end"]


@pytest.mark.parametrize(("ends_with_us", "times"), [(True, 1), (False, 2)])
def test_a_system_that_stays_is_cleaned_up_after_every_trial(
    tmp_path: Path, times: int, *, ends_with_us: bool
) -> None:
    """This includes trials after a failed clean-up, for which other systems would be stopped."""
    cleaned: list[str] = []
    trouble = SystemFault("no queue can be deleted")
    spoiled = bench(tmp_path / "tools", trouble, cleaned.append, ends_with_us=ends_with_us)
    for number in (1, 2):
        begin(CASE, number, tmp_path / str(number), spoiled, Audience(print)).trial.close()
    assert len(cleaned) == times


@pytest.mark.parametrize(("ends_with_us", "times"), [(True, 0), (False, 1)])
def test_a_system_that_stays_is_cleaned_up_after_its_nodes_were_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, times: int, *, ends_with_us: bool
) -> None:
    """Other systems are stopped, which removes what the run left in them."""
    cleaned: list[str] = []
    monkeypatch.setattr(Timetable, "renews", property(lambda _timetable: True))
    renewed = bench(tmp_path / "tools", None, cleaned.append, ends_with_us=ends_with_us)
    begin(CASE, 1, tmp_path / "runs", renewed, Audience(print)).trial.close()
    assert len(cleaned) == times
