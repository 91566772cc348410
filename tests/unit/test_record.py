"""The record: a run is complete or absent, and nothing measured is lost."""

import json
from pathlib import Path

import pytest

from mqperf.base.errors import RecordError
from mqperf.plan import Case
from mqperf.record import Attempt, Run, pending, recording, runs

CASE = Case(
    system="rabbitmq",
    topology="cmsm",
    queues="classic",
    test_case="rpc-call",
    green_threads=1,
    duration_s=3,
)
OTHER = CASE.model_copy(update={"repeat": 2})


def finished(folder: Path, case: Case = CASE) -> Run:
    """A completed run with one file of load."""
    attempt = Attempt(folder, case)
    (attempt.folder / "load" / "client-1.json").write_text("{}")
    return attempt.finish()


def test_a_finished_run_bears_the_name_of_its_case(tmp_path: Path) -> None:
    """Finishing is one rename; the case is read back unchanged."""
    run = finished(tmp_path)
    assert [(r.id, r.status) for r in runs(tmp_path)] == [(CASE.id, "done")]
    assert run.case() == CASE


def test_an_unfinished_run_is_pending(tmp_path: Path) -> None:
    """An attempt that was interrupted at any instant is not a run."""
    finished(tmp_path)
    Attempt(tmp_path, OTHER)
    assert pending(tmp_path, [CASE, OTHER]) == [OTHER]


def test_everything_is_pending_before_the_first_run(tmp_path: Path) -> None:
    """The folder need not exist."""
    assert pending(tmp_path / "new", [CASE]) == [CASE]


def test_interrupted_attempts_are_kept(tmp_path: Path) -> None:
    """Files left by a killed mqperf are moved to the next free number, never removed."""
    for _ in range(2):
        Attempt(tmp_path, CASE).event("measured")
        with recording(tmp_path, "plan"):
            pass
    names = [run.id for run in runs(tmp_path)]
    assert names == [f"{CASE.id}.interrupted-1", f"{CASE.id}.interrupted-2"]
    assert (tmp_path / names[0] / "events.jsonl").exists()


def test_a_failed_attempt_says_why(tmp_path: Path) -> None:
    """The reason is in run.json, without a password."""
    run = Attempt(tmp_path, CASE).fail("rabbit://nova:secret@host refused us")
    assert run.status == "failed"
    assert run.facts().failure == "rabbit://nova:***@host refused us"


def test_a_second_mqperf_is_turned_away(tmp_path: Path) -> None:
    """The second one to use a folder gets an error."""
    with (
        recording(tmp_path, "plan"),
        pytest.raises(RecordError, match="another mqperf"),
        recording(tmp_path, "plan"),
    ):
        pass


def test_the_plan_is_kept_without_passwords(tmp_path: Path) -> None:
    """A copy of the plan, with its secrets removed, is stored beside the runs."""
    with recording(tmp_path, "urls: [rabbit://nova:secret@host:5672]\n"):
        pass
    assert (tmp_path / "plan.yaml").read_text() == "urls: [rabbit://nova:***@host:5672]\n"


def test_events_hold_no_password(tmp_path: Path) -> None:
    """An event is a line of JSON with its instant in UTC."""
    attempt = Attempt(tmp_path, CASE)
    attempt.event("refused", url="rabbit://nova:secret@host")
    [event] = map(json.loads, (attempt.folder / "events.jsonl").read_text().splitlines())
    assert event["url"] == "rabbit://nova:***@host"
    assert event["time"].endswith("+00:00")


def test_a_changed_file_is_noticed(tmp_path: Path) -> None:
    """The sha256 of every file shows whether it is the recorded one."""
    run = finished(tmp_path)
    assert run.damaged() == []
    (run.path / "load" / "client-1.json").write_text("{ }")
    assert run.damaged() == ["load/client-1.json"]


@pytest.mark.parametrize(
    ("text", "complaint"), [("{", "not a sound run.json"), ('{"schema": 99}', "schema 99")]
)
def test_a_foreign_run_json_is_refused(tmp_path: Path, text: str, complaint: str) -> None:
    """A truncated file or another schema version is a one-sentence error that names the file."""
    run = finished(tmp_path)
    (run.path / "run.json").write_text(text)
    with pytest.raises(RecordError, match=f"run.json: .*{complaint}"):
        run.facts()


def test_other_folders_are_no_runs(tmp_path: Path) -> None:
    """Only folders whose names end in a case's hash are runs."""
    (tmp_path / "notes").mkdir()
    assert list(runs(tmp_path)) == []


def test_a_full_disk_is_named(tmp_path: Path) -> None:
    """The error is one sentence that names the file and what to do."""
    attempt = Attempt(tmp_path, CASE)
    (attempt.folder / "events.jsonl").symlink_to("/dev/full")
    with pytest.raises(RecordError, match=r"cannot write the record: No space left .* --runs"):
        attempt.event("provisioned")


def test_a_file_in_the_way_is_named(tmp_path: Path) -> None:
    """If the runs folder is a file, the error is one sentence without a traceback."""
    taken = tmp_path / "file"
    taken.touch()
    with pytest.raises(RecordError, match="cannot write the record"), recording(taken, ""):
        pass
