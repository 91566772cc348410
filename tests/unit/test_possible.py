"""What a machine can measure of a plan, found before anything starts."""

import re
import shutil
from pathlib import Path

import pytest

from mqperf.base.errors import PlanError, SystemFault
from mqperf.front.preview import preview
from mqperf.hosts import Hosts, LocalHost
from mqperf.lab.runner import Silent, sweep
from mqperf.lab.systems.possible import possible
from mqperf.plan import Plan
from mqperf.plan.file import as_measured, parse_plan
from mqperf_software.lab.rabbitmq import VersionSettings

HERE = Hosts.alone(LocalHost())
TEXT = """\
systems:  # both
  rabbitmq:
    topologies: [cmsm]
    queues: [ 'classic', ha ]  # and its copies
  zeromq: {topologies: [direct], queues: [none]}
test_cases: [rpc-call]
load: {green_threads: [1], duration_s: 2}
"""


def plan(text: str = TEXT) -> Plan:
    return parse_plan(text, Path("here.yaml"))


@pytest.fixture
def version(monkeypatch: pytest.MonkeyPatch) -> None:
    """RabbitMQ 4 and Redis seem to be installed."""
    monkeypatch.setattr(VersionSettings, "obtainable", lambda *_: "4.0.5")
    monkeypatch.setattr(shutil, "which", lambda name, **_: f"/usr/bin/{name}")


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """No program is installed."""
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)


@pytest.mark.starts_programs
@pytest.mark.usefixtures("version")
def test_ha_is_resolved_before_cases_get_their_ids() -> None:
    """Each case has the actual kind of queue, so that kinds never share a point."""
    kinds = [case.queues for case in possible(plan(), HERE).plan.cases()]
    assert kinds[:2] == ["classic", "quorum"]


@pytest.mark.usefixtures("version")
def test_the_same_kind_twice_is_refused() -> None:
    """Naming the kind that ``ha`` becomes would measure it twice."""
    with pytest.raises(PlanError, match="ha queues of RabbitMQ are quorum queues here"):
        possible(plan(TEXT.replace("ha ]", "ha, quorum ]")), HERE)


@pytest.mark.starts_programs
@pytest.mark.usefixtures("version")
def test_a_kind_that_cannot_be_had_leaves_the_others() -> None:
    """RabbitMQ 4 refuses mirrored queues with the reason; classic ones remain."""
    here = possible(plan(TEXT.replace("ha ]", "mirrored ]")), HERE)
    reasons = {case.queues: here.refusal(case) for case in here.plan.cases()}
    assert reasons["classic"] is None
    assert "RabbitMQ 4.0.5 has no mirrored queues" in str(reasons["mirrored"])


@pytest.mark.starts_programs
@pytest.mark.usefixtures("version")
def test_preview_names_what_ha_becomes() -> None:
    """``mqperf plan`` shows it before the cases, and in each case."""
    text = preview(plan())
    assert "RabbitMQ: ha queues are quorum queues here\n" in text
    assert "rabbitmq cmsm quorum, rpc-call, 1 thread" in text


@pytest.mark.usefixtures("bare")
def test_preview_needs_nothing_installed() -> None:
    """Missing programs are named, and the cases are shown."""
    text = preview(plan())
    assert "RabbitMQ, ha queues: cannot be measured here: RabbitMQ is not installed" in text
    assert "zeromq direct none, rpc-call, 1 thread" in text


@pytest.mark.usefixtures("bare")
def test_nothing_possible_is_an_error_and_no_record(tmp_path: Path) -> None:
    """The error says what to install, and no folder is created."""
    install = re.escape("sudo apt-get install rabbitmq-server")
    with pytest.raises(SystemFault, match=install):
        sweep(plan(), TEXT, tmp_path / "runs", Silent())
    assert not (tmp_path / "runs").exists()


@pytest.mark.starts_programs
def test_queues_of_an_existing_cluster_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its replication is unknown, so the plan must name the kind of queue."""
    monkeypatch.setattr(shutil, "which", lambda name, **_: f"/usr/bin/{name}")
    existing = "settings: {nodes: [a], urls: ['amqp://u@a']}"
    here = possible(plan(TEXT.replace("[cmsm]", f"[cmsm]\n    {existing}")), HERE)
    [refused] = here.refused
    assert (refused.system, refused.queues) == ("rabbitmq", "ha")
    assert "plan queues: [mirrored] or [quorum]" in refused.reason


def test_the_copied_plan_keeps_its_words() -> None:
    """Only kinds of queue are replaced, in any style of YAML."""
    copy = as_measured(TEXT, {"rabbitmq": {"classic": "classic", "ha": "quorum"}}, 1)
    assert copy == TEXT.replace("ha ]", "quorum ]")


def test_an_alias_keeps_its_meaning() -> None:
    """A YAML alias in another system keeps the original kind of queue."""
    shared = TEXT.replace("ha ]", "&kind ha ]").replace("[none]", "[*kind]")
    copied = parse_plan(as_measured(shared, {"rabbitmq": {"ha": "quorum"}}, 1), Path("copy.yaml"))
    assert "quorum" in copied.systems["rabbitmq"].queues
    assert copied.systems["zeromq"].queues == ("ha",)
