"""Every recorded key is read by a table or a rule, or is listed here with the reason why not.

All records are read by typed models.  While the tables and doubts of recorded runs are computed,
the test notes every field that is read.  A new kind of record needs code that reads it, or an
entry in the list.
"""

import json
from collections.abc import Iterator, Mapping
from fnmatch import fnmatch
from itertools import chain
from pathlib import Path

import pytest
from pydantic import BaseModel
from typing_extensions import override

from mqperf.record import Event, Facts, counts_lines, messages, runs
from mqperf.record.logs import psutil_log
from mqperf.record.logs.inside import Line
from mqperf.record.outputs.diary import Diary
from mqperf.study import tables
from mqperf.study.stats import checks
from mqperf_openstack.record import steps as steps_file

SAMPLES = Path(__file__).parents[2] / "data/samples"
FOLDERS = ("runs", "hosts", "wan", "stress", "faults", "inside/rabbitmq", "inside/transfers")

FORMS: Mapping[str, type[BaseModel]] = {
    "run.json": Facts,
    "events.jsonl": Event,
    "psutil.jsonl": psutil_log.Sample,
    "inside.jsonl": Line,
    "*.messages": messages.Header,
    "*.counts": counts_lines.Header,
    "*.steps": steps_file.Header,
    "*-1.json": Diary,
}
"""File name -> the model of its first line, or of each line."""

BATCH = 8
"""Runs per folder: so few are read in this process, where reads can be noted."""

FOREIGN_FILES = ("*.log", "*.conf", "*.xml", "*.properties", "*-enabled_plugins")
"""Files that other programs write or read."""

UNREAD = {
    # checked by the model itself, or before it is made
    *("facts.Facts.schema_version", "facts.Facts.seal", "facts.Facts.clock_offsets_s"),
    *("diary.Diary.label", "diary.Diary.version"),
    *(f"{file}.Header.format" for file in ("messages", "counts_lines", "steps")),
    *(f"{file}.Header.version" for file in ("messages", "counts_lines", "steps")),
    # in the id of the case, which names the folder: the doubt changed-record compares them
    *("case.Case.fail_when", "case.Case.targets", "background.BackgroundLoad.rate_msg_s"),
    # the case says the same of an action
    *("events.Event.action", "events.Event.node"),
    # the setup, as far as no table compares it
    *("facts.Facts.generator_options", "facts.HostFacts.python", "facts.SystemFacts.config"),
    *("facts.SystemFacts.heap_bytes", "facts.SystemFacts.management", "facts.SystemFacts.metrics"),
    *("facts.SystemFacts.memory_watermark_bytes", "facts.SystemFacts.policies"),
    *("facts.SystemFacts.product", "facts.SystemFacts.schedulers", "facts.SystemFacts.tls"),
    # the chain that was executed
    *("steps.Header.chain", "messages.Header.seed", "steps.StepFacts.processing_s"),
    *("steps.StepFacts.receipt", "steps.StepFacts.reply_bytes"),
    "steps.StepFacts.request_bytes",
    # beside figures that are read: of the clock, the link, a node, an answer
    *("facts.KernelClock.estimated_error_s", "facts.KernelClock.frequency_ppm"),
    *("facts.KernelClock.max_error_s", "facts.LinkFacts.packets", "facts.LinkFacts.seed"),
    *("facts.RecordedNode.rss_bytes", "inside.Line.took_s"),
}
"""Models and keys that no table and no rule reads, with the reason."""

Keys = set[str]


class Noted(dict[str, object]):
    """The further values of an event; notes which of them are read."""

    read: Keys

    @override
    def get(self, name: str, default: object = None) -> object:
        self.read.add(f"events.Event.{name}")
        return super().get(name, default)

    @override
    def __getitem__(self, name: str) -> object:
        self.read.add(f"events.Event.{name}")
        return super().__getitem__(name)


def key(model: BaseModel, name: str) -> str:
    """The module, the model and the field."""
    kind = type(model)
    return f"{kind.__module__.rpartition('.')[2]}.{kind.__name__}.{name}"


def recorded(content: object, model: object) -> Iterator[str]:
    """The keys of JSON from which a model was made, as names of its fields."""
    if isinstance(model, BaseModel) and isinstance(content, dict):
        names = {
            alias: name
            for name, field in type(model).model_fields.items()
            for alias in (field.alias, field.serialization_alias)
        }
        for recorded_key, value in content.items():
            name = names.get(str(recorded_key), str(recorded_key))
            yield key(model, name)
            yield from recorded(value, vars(model).get(name))
    elif isinstance(model, Mapping) and isinstance(content, dict):
        for name, value in content.items():
            yield from recorded(value, model.get(name))
    elif isinstance(model, list | tuple) and isinstance(content, list):
        for value, part in zip(content, model, strict=True):
            yield from recorded(value, part)


def written(run: Path) -> Iterator[str]:
    """The keys in all files of a run."""
    for file in run.rglob("*"):
        form = next((form for name, form in FORMS.items() if fnmatch(file.name, name)), None)
        if file.is_dir() or any(fnmatch(file.name, name) for name in FOREIGN_FILES):
            continue
        assert form is not None, f"{file}: nobody says how it is read"
        content = file.read_bytes()
        lines = content.splitlines() if file.suffix == ".jsonl" else [content.splitlines()[0]]
        for line in [content] if file.suffix == ".json" else lines:
            document = json.loads(line)
            if form is not Diary or str(document.get("format", "")).startswith("mqperf"):
                yield from recorded(document, form.model_validate_json(line))


@pytest.mark.takes_long
def test_every_recorded_key_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Exactly those that no table and no rule reads are listed above."""
    keys: Keys = set()
    samples = [[*runs(SAMPLES / folder)][:BATCH] for folder in FOLDERS]
    for run in chain(*samples):
        keys |= {*written(run.path)}
    read: Keys = set()
    Noted.read = read

    def look(self: BaseModel, name: str) -> object:
        if not name.startswith(("_", "model_")):
            read.add(key(self, name))
        return object.__getattribute__(self, name)

    monkeypatch.setattr(BaseModel, "__getattribute__", look, raising=False)
    monkeypatch.setattr(Event, "detail", property(lambda self: Noted(self.model_extra or {})))
    for sample in samples:
        checks.doubts(tables.of_runs(sample))
    assert keys - read - UNREAD == set()
    assert UNREAD - keys == set()


def test_a_key_that_nobody_knows_is_noticed() -> None:
    """An unknown key is found at any level."""
    content = {"surprise": 1, "hosts": [{"label": "h1", "surprise": 2}]}
    keys = {*recorded(content, Facts.model_validate(content))}
    assert {"facts.Facts.surprise", "facts.HostFacts.surprise"} <= keys
