"""Malformed plans give one clear error each and exit code 2, without traceback or hang."""

import copy
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from malformed_plans import FAMILIES, RICH, SOUND, malformed

from mqperf.front import cli
from mqperf.lab.systems.in_plans import problems_of
from mqperf.lab.systems.system import System
from mqperf.plan.file import parse_plan

pytestmark = pytest.mark.takes_long

QUICKSTART = (Path(__file__).parent.parent.parent / "plans" / "quickstart.yaml").read_bytes()
JARGON = re.compile(
    r"Traceback|pydantic|[Ii]nput should|[Vv]alidation error|[Vv]alue error|type="
    r"|tuple|constrained|\(key\)\.\w|\bdict\b|\bNone\b|tag:yaml|could not determine|the node",
)
NO_LINE = {"long-line", "700000-counts", "missing-systems", "missing-load"}
"""Plans too long to be read, or with missing keys: errors without a line."""


def mqperf(*arguments: str) -> int:
    """The exit code of the command line, run in this process."""
    argv, sys.argv = sys.argv, ["mqperf", *arguments]
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        cli.main()
    except SystemExit as ended:
        return int(ended.code or 0)
    finally:
        sys.argv = argv
        for number, handler in handlers.items():
            signal.signal(number, handler)
    return 0


def test_the_plan_behind_the_corpus_is_sound() -> None:
    """Malformed plans differ from valid ones in a single change."""
    for text in (SOUND, RICH):
        assert parse_plan(text, Path("sound.yaml"), problems_of).cases()
    assert sum(len(malformed(family)) for family in FAMILIES) >= 550


Answer = tuple[int, str, str]
"""Exit code, output and errors."""


def answer(content: bytes, file: Path, capsys: pytest.CaptureFixture[str]) -> Answer:
    """The reply of the command line to a plan with this content."""
    file.write_bytes(content)
    code = mqperf("plan", str(file))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def unclear(name: str, reply: Answer, file: Path) -> list[str]:
    """In which ways a reply is not one clear error with file, line and mistake."""
    code, out, err = reply
    lines = err.splitlines()
    place = re.search(r"plan\.yaml:\d+: \S", err) or "plan.yaml: a plan is a mapping" in err
    ways = {
        f"exit code {code}": code != 2,
        f"output {out!r}": out != "",
        "its file is not named": not err.startswith(f"mqperf: {file}:"),
        "words of programmers": JARGON.search(err.replace(str(file.parent), "")),
        "a long line": any(len(line) >= 400 for line in lines),
        "many lines": len(lines) >= 60,
        "a password": "u:p" in err,
        "its line is not named": not place and name not in NO_LINE,
    }
    return [way for way, so in ways.items() if so]


@pytest.mark.parametrize("family", FAMILIES)
def test_malformed_plans_are_clear_errors(
    family: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2; stderr has only file, line and mistake, in plain words."""
    file, wrong = tmp_path / "plan.yaml", {}
    for name, content in malformed(family).items():
        try:
            reply = answer(content, file, capsys)
        except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 (continue with the next)
            wrong[name] = [repr(error)]
            continue
        if ways := unclear(name, reply, file):
            wrong[name] = [*ways, reply[2]]
    assert wrong == {}


def test_what_is_not_clear_is_found(tmp_path: Path) -> None:
    """The check rejects the reply to a valid plan, and an error without a line."""
    file = tmp_path / "plan.yaml"
    assert unclear("x", (0, "8 cases", ""), file)[:2] == ["exit code 0", "output '8 cases'"]
    assert unclear("x", (2, "", f"mqperf: {file}: bad"), file) == ["its line is not named"]
    assert unclear("x", (2, "", f"mqperf: {file}:7: bad"), file) == []


RIGHT = {
    "twice-queues": r"plan\.yaml:7: systems\.rabbitmq\.queues: given twice, in line 6 and here",
    "misspelt-targets": r"plan\.yaml:16: load\.argets_: unknown key; did you mean 'targets'",
    "unknown-system": r"plan\.yaml:4: .*'rabitmq'; did you mean 'rabbitmq'",
    "order-unknown": r"plan\.yaml:18: order: unknown order 'rnadom'; did you mean 'random'",
    "duration_s-text": r"plan\.yaml:12: load\.duration_s: expected a whole number, got 'ten'",
    "settings-misspelt": r"plan\.yaml:7: .*start_timeout: .*did you mean 'start_timeout_s'",
    "settings-too-little": r"plan\.yaml:7: .*memory_watermark_mb: expected at least 64, got 1",
    "processes-huge": r"plan\.yaml:11: .*expected at most 1,000, got 100000000",
    "90000-cases": r"plan\.yaml:9: load: 715,211 cases, .* at most 10,000: shorten",
    "threads": r"plan\.yaml:10: load\.green_threads: .*10,000,000 .* at most 100,000 .*: lower",
    "billion-laughs": r"more than 20,000 values",
    "700000-counts": r"plan\.yaml: more than 262,144 bytes: split",
    "deep-flow": r"plan\.yaml:1: nested more than 20 deep",
    "latin-1": r"plan\.yaml:2: not UTF-8: save",
    "tab": r"plan\.yaml:4: not YAML: a tab may not indent",
}
"""Part of the error by name of the plan: place, expected and actual value, limit."""


def test_the_error_says_what_would_be_right(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Errors have line, place, expected and actual value, the nearest name, or the limit."""
    corpus = {name: text for family in FAMILIES for name, text in malformed(family).items()}
    errors = {name: answer(corpus[name], tmp_path / "plan.yaml", capsys)[2] for name in RIGHT}
    assert {name: errors[name] for name in RIGHT if not re.search(RIGHT[name], errors[name])} == {}


def test_all_problems_are_told_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Types, names, settings and repeated keys: one error with lines in the file's order."""
    file = tmp_path / "plan.yaml"
    text = SOUND.replace("[cmsm,", "[cmms,").replace("{start_timeout_s: 60}", "{start: 1}")
    text = text.replace("duration_s: 8", "duration_s: long").replace("targets:", "target:")
    text = text.replace("seed: 7", "seed: 7\nseed: !!set {}")
    file.write_text(text.replace("test_cases:", "  zeromc: {topologies: [direct]}\ntest_cases:"))
    assert mqperf("run", str(file)) == 2
    first, *lines = capsys.readouterr().err.splitlines()
    assert first == f"mqperf: {file}: 6 problems"
    places = [re.sub(r".*plan\.yaml:(\d+): (\S+?):? .*", r"\1 \2", line) for line in lines]
    assert places == [
        "5 systems.rabbitmq.topologies",
        "7 systems.rabbitmq.settings.start",
        "8 systems.zeromc",
        "13 load.duration_s",
        "17 load.target",
        "21 seed",
    ]


@pytest.mark.starts_programs
@pytest.mark.parametrize("what", ["directory", "fifo", "/dev/zero", "missing", "long-name"])
def test_what_is_no_file_is_not_read(what: str, tmp_path: Path) -> None:
    """A folder, a pipe, an endless device: one error, without waiting."""
    place = {"directory": tmp_path, "missing": tmp_path / "no", "/dev/zero": Path("/dev/zero")}.get(
        what, tmp_path / ("x" * (300 if what == "long-name" else 5))
    )
    if what == "fifo":
        os.mkfifo(place)
    ended = subprocess.run(
        [Path(sys.executable).with_name("mqperf"), "plan", place],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (2, "")
    assert re.fullmatch(rf"mqperf: {re.escape(str(place))}: [^\n]*\n", ended.stderr)


@pytest.fixture
def no_version_check(monkeypatch: pytest.MonkeyPatch) -> None:
    """Valid plans do not ask systems for their versions, which is slow."""
    monkeypatch.setattr(System, "queues_on", lambda _system, _host, asked, _settings: asked)


@pytest.mark.usefixtures("no_version_check")
@given(data=st.data())
def test_damaged_bytes_are_a_plan_or_an_error(data: st.DataObject, tmp_path: Path) -> None:
    """A plan with some bytes replaced is accepted or gives an error."""
    content = QUICKSTART
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(content)))
        length = data.draw(st.sampled_from([0, 0, 1, 1, 2, 10]))
        bits = st.binary(max_size=4) | st.sampled_from(
            [
                b"\t",
                b"\n",
                b"[",
                b"]",
                b"{",
                b"}",
                b": ",
                b"- ",
                b"&a ",
                b"*a",
                b"!!int ",
                b"? ",
                b"|",
            ]
        )
        content = content[:start] + data.draw(bits) + content[start + length :]
    file = tmp_path / "plan.yaml"
    file.write_bytes(content)
    assert mqperf("plan", str(file)) in {0, 2}


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.dates()
    | st.sampled_from(["rabbitmq", "zeromq", "cmsm", "classic", "amqp://u:p@h", "${X}", "***"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)


@pytest.mark.usefixtures("no_version_check")
@given(data=st.data())
def test_damaged_structure_is_a_plan_or_an_error(data: st.DataObject, tmp_path: Path) -> None:
    """A plan with any values replaced is accepted or gives an error."""
    plan = yaml.safe_load(data.draw(st.sampled_from([SOUND, RICH])))
    for _ in range(data.draw(st.integers(1, 3))):
        holder, key = data.draw(st.sampled_from(list(places(plan))))
        holder[key] = copy.deepcopy(data.draw(VALUES))
    file = tmp_path / "plan.yaml"
    file.write_text(
        yaml.safe_dump(plan, allow_unicode=data.draw(st.booleans())), "utf-8", "replace"
    )
    assert mqperf("plan", str(file)) in {0, 2}


def places(data: Any) -> Iterator[tuple[Any, Any]]:  # noqa: ANN401 (data of YAML)
    """Every container in the data, with every key or index of it."""
    keys = data if isinstance(data, dict) else range(len(data)) if isinstance(data, list) else ()
    for key in list(keys):
        yield data, key
        yield from places(data[key])
