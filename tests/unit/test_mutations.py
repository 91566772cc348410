"""A randomly damaged run is read unchanged, doubted or refused, never silently altered."""

import json
import shutil
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqperf.base.errors import RecordError
from mqperf.record import Run, as_whole

pytestmark = pytest.mark.takes_long

ROOT = Path(__file__).parent.parent.parent
NAME = "rabbitmq-cmsm-classic-rpc-call-t0005-p1-r1-367280fe"
FACTS = json.loads((ROOT / "data/samples/runs" / NAME / "run.json").read_text())

COUNT = 45
"""A part of the more than thousand mutations of the benchmark."""

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


@pytest.fixture(scope="module")
def mutations() -> Iterator[ModuleType]:
    """The benchmark, imported as a module."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "benchmarks")
        yield import_module("mutations")


def test_no_damage_changes_a_number_in_silence(mutations: ModuleType) -> None:
    """A number changes only with a doubt, or if all was recorded anew; no hang, no traceback."""
    wrong = [
        f"{outcome}: {mutation}: {detail}"
        for mutation, outcome, detail in mutations.campaign(COUNT, seed=7)
        if outcome in mutations.BAD
        and not (outcome == "SILENT" and mutation.manner == "recorded anew")
    ]
    assert wrong == []


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A copy of a recorded run."""
    path = tmp_path_factory.mktemp("runs") / NAME
    shutil.copytree(ROOT / "data/samples/runs" / NAME, path)
    return Run(path, NAME, "done")


@given(st.sampled_from(sorted(FACTS)), st.none() | st.sampled_from(["start", "label", 0]), JSON)
def test_any_value_of_any_key_is_read_or_refused(
    run: Run, key: str, inner: str | int | None, value: object
) -> None:
    """Any JSON in run.json is read, or gives an error that names the file."""
    facts = json.loads(json.dumps(FACTS))
    if isinstance(facts[key], dict) and isinstance(inner, str):
        facts[key][inner] = value
    elif isinstance(facts[key], list) and inner == 0:
        facts[key][0] = value
    else:
        facts[key] = value
    (run.path / "run.json").write_text(json.dumps(facts))
    message = ""
    try:
        as_whole(run, run.facts())
    except RecordError as error:
        message = str(error)
    assert message == "" or message.startswith(f"{run.path / 'run.json'}: ")
