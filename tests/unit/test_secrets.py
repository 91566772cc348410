"""Whatever form a plan gives a password, nothing shows or stores it."""

import json
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from io import StringIO
from itertools import cycle
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rich.console import Console

from mqperf import new_plan
from mqperf.base.errors import PlanError, SystemFault
from mqperf.base.redaction import redacted, without_passwords
from mqperf.base.urls import BrokerUrl
from mqperf.front import cli
from mqperf.front.preview import preview
from mqperf.front.progress import Bar
from mqperf.front.status import status
from mqperf.hosts import LocalHost
from mqperf.lab.load import Endpoint
from mqperf.lab.systems.in_plans import problems_of
from mqperf.lab.systems.rabbitmq.existing import existing_cluster
from mqperf.lab.systems.rabbitmq.settings import Settings, parse_settings
from mqperf.plan import Case, Plan
from mqperf.plan.file import parse_plan, plan_from, public
from mqperf.record import Attempt, Run, recording

BEGIN, END = "Zq7x", "x7qZ"
"""Both ends of every password here, so that a part of one is found too."""

HERE = Path("here.yaml")
PLAN = """\
# Before the sweep: COMMENT
title: "Staging: ask me@example.org"   # mind the quotes
systems:
  rabbitmq:
    topologies: [cmsm]
    settings:
      nodes: [rabbit@mq1]
      urls:
        - URL
test_cases: [rpc-call]
load: {green_threads: [10], duration_s: 30}
"""

URLS = (
    "amqp://perf:{}@mq1.example.net:5672/perf",
    "rabbit://perf:{}@127.0.0.1",
    "amqp://:{}@mq1",
    "amqp://perf:{}@[::1]:5672",
    "perf:{}@mq1:5672/perf",
    "amqp://perf:{}@",
    "amqp://perf:{}@mq1:port",
    "http://perf:{}@mq1",
    "amqp://mq1/perf?password={}",
    "amqp://perf@mq1/perf?ssl=true&ssl_key_password={}",
    "amqp://perf:${{HOME}}{}@mq1",
    "amqp://perf:{}@[::1",
)
"""Positions of a password in a URL; some of these are invalid URLs."""

PASSWORDS = st.text(
    st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp", "Cn", "Co")), max_size=12
).map(lambda middle: f"{BEGIN}{middle}{END}")

HARD = (
    "@",
    " ",
    "'",
    '"',
    "#",
    " #",
    ": ",
    "/",
    "?",
    "&",
    "%",
    "\\",
    "{}",
    ", ",
    "* & !",
    "&ssl=",
    "ß",
    "@/:?",
)

searching = settings(max_examples=60)


def plain(url: str) -> str:
    return url


def in_single_quotes(url: str) -> str:
    return "'" + url.replace("'", "''") + "'"


def block(url: str) -> str:
    return f"|\n          {url}"


def folded(url: str) -> str:
    return f">-  # the password\n          {url}"


def anchored(url: str) -> str:
    return f"&node {json.dumps(url)}"


Form = Callable[[str], str]
FORMS: tuple[Form, ...] = (plain, json.dumps, in_single_quotes, block, folded, anchored)


def shown_by(text: str) -> Iterator[str]:
    """All texts that mqperf makes of a plan, valid or not."""
    try:
        plan = parse_plan(text, HERE, problems_of)
    except PlanError as error:
        yield str(error)
        return
    yield from (repr(plan), str(plan), plan.model_dump_json(), repr(plan.model_dump()))
    yield preview(plan, everything=True)
    yield from (case.model_dump_json() + repr(case) for case in plan.cases())
    settings_of = plan.systems["rabbitmq"].settings
    yield f"{settings_of} {parse_settings(settings_of)!r} {parse_settings(settings_of).endpoints}"


@pytest.mark.parametrize("url", URLS)
def test_no_hard_password_is_shown_or_kept(url: str, tmp_path: Path) -> None:
    """Passwords may contain the characters that end a scalar, a comment or a part of a URL."""
    for number, (middle, form) in enumerate(zip(HARD, cycle(FORMS), strict=False)):
        search(f"{BEGIN}{middle}{END}", url, form, tmp_path / str(number))


@searching
@given(password=PASSWORDS, url=st.sampled_from(URLS), form=st.sampled_from(FORMS))
def test_no_password_is_shown_or_kept(
    password: str, url: str, form: Form, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Errors, previews, dumps, the plan's copy, run.json and events show no part of a password."""
    search(password, url, form, tmp_path_factory.mktemp("runs"))


def search(password: str, url: str, form: Form, folder: Path) -> None:
    text = PLAN.replace("URL", form(url.format(password))).replace("COMMENT", f"it is {password}")
    shown = [*shown_by(text)]
    with suppress(PlanError):
        shown += kept(parse_plan(text, HERE, problems_of), text, folder)
    for words in shown:
        assert BEGIN not in words
        assert END not in words


def revealed(url: BrokerUrl, scheme: str) -> str:
    """The URL that a load generator connects to."""
    user, password = url.credentials
    given = Endpoint("amqp-0-9-1", (url.address,), user, password, url.vhost, url.options_but())
    return given.url(scheme)


def kept(plan: Plan, text: str, folder: Path) -> Iterator[str]:
    """The contents of the files that a run leaves; the plan's copy gives the same cases."""
    with recording(folder, text):
        [case] = plan.cases()
        attempt = Attempt(folder, case)
        endpoint = parse_settings(plan.systems["rabbitmq"].settings).endpoints[0]
        urls = [revealed(endpoint, scheme) for scheme in ("rabbit", "amqp")]
        attempt.event("refused", url=urls[0], more=urls[1:])
        attempt.fail(f"cannot reach {revealed(endpoint, 'rabbit')}, given up")
    yield from (file.read_text() for file in folder.rglob("*") if file.is_file())
    yield status(folder)
    copied = parse_plan((folder / "plan.yaml").read_text(), HERE)
    assert [copied_case.id for copied_case in copied.cases()] == [case.id]


@searching
@given(password=PASSWORDS)
@example("it's 100% @/:?#&=")
def test_the_driver_gets_the_password_that_the_plan_gives(password: str) -> None:
    """Percent-encoded or literal, the password reaches RabbitMQ unchanged."""
    for given_password in (quote(password, safe=""), password):
        try:
            [url] = parse_settings(
                {"nodes": ["a"], "urls": [f"amqp://u:{given_password}@h:1/v"]}
            ).endpoints
        except SystemFault:
            assert set(given_password) & set("/?#") or not given_password.isprintable()
            continue
        assert url.credentials == ("u", unquote(given_password))
        assert unquote(urlsplit(revealed(url, "rabbit")).password or "") == unquote(given_password)
        assert (url.host, url.port) == ("h", 1)


def test_the_rest_of_the_plan_is_kept_to_the_byte() -> None:
    """Only the password's scalar changes; variables, quotes, comments and line ends stay."""
    text = PLAN.replace("COMMENT", "at night").replace(
        "- URL", "- amqp://u:${MQ}@a:1  # master\n        - 'amqp://u:hunter2@b'  # slave"
    )
    for given_text in (text, text.replace("\n", "\r\n"), f"\ufeff{text}"):
        wanted = given_text.replace("'amqp://u:hunter2@b'", '"amqp://u:***@b"')
        assert public(given_text) == wanted


def test_a_plan_without_passwords_is_kept_as_it_is(root: Path) -> None:
    """Every plan of the project is copied byte by byte."""
    for file in root.glob("plans/*.yaml"):
        assert public(file.read_text()) == file.read_text()


def test_a_comment_with_a_password_is_not_kept() -> None:
    """A comment that may contain a password, or that repeats one of the plan's, is hidden."""
    text = PLAN.replace("COMMENT", "amqp://u:hunter2@h").replace("URL", "amqp://u:tr0ub@h # tr0ub")
    copied = public(text)
    assert "hunter2" not in copied
    assert "tr0ub" not in copied
    assert "# mind the quotes" in copied


@pytest.mark.parametrize(
    ("given_text", "wanted"),
    [
        ("rabbit://nova:s3cr:et@host:5672/", "rabbit://nova:***@host:5672/"),
        ("rabbit://nova:${SECRET}@host/v", "rabbit://nova:***@host/v"),
        ("rabbit://host", "rabbit://host"),
        ("rabbit@mq1", "rabbit@mq1"),
        ("amqp://u:p@ss word@h", "amqp://u:***@h"),
        (
            "amqp://h/v?ssl=true&password=x&heartbeat=5",
            "amqp://h/v?ssl=true&password=***",
        ),
        ("u:p@h", "***"),
        ("amqp://u:p/w@h", "***"),
        ("10 green threads", "10 green threads"),
    ],
)
def test_a_url_is_redacted_by_its_parts(given_text: str, wanted: str) -> None:
    """User, host and public options stay; a URL that cannot be parsed is hidden completely."""
    assert redacted(given_text) == wanted
    assert redacted(wanted) == wanted


@pytest.mark.parametrize("text", ["u:p'w@h", 'u:p"w@h', "u:p:w@h", "u:p@w@h", ":pw@h"])
def test_texts_of_other_programs_are_redacted(text: str) -> None:
    """Logs and errors of other programs may quote a URL in any form."""
    for words in (f"at amqp://{text}, refused", f"'amqp://{text}'", f'{{"url": "amqp://{text}"}}'):
        cleaned = without_passwords(words)
        assert "w@" not in cleaned
        assert ":***@h" in cleaned
    assert without_passwords("GET http://h/x?password=hunter2&a=b") == (
        "GET http://h/x?password=***"
    )


def test_a_url_cannot_be_printed() -> None:
    """Neither repr nor an f-string shows it."""
    url = BrokerUrl.parse("amqp://u:hunter2@h?password=hunter2")
    assert "hunter2" not in f"{url} {url!r} {[url]} {url.shown()}"
    assert "hunter2" in revealed(url, "amqp")


@pytest.mark.parametrize("password", ["p@ss word", "it's", 'a"b', "100%", "Connection", "127"])
def test_a_refused_connection_does_not_tell_the_password(password: str) -> None:
    """Messages of socket and driver are kept, without the password in any form."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = str(unused.getsockname()[1])
        url = f"amqp://u:{password}@localhost:{port}"
        with pytest.raises(SystemFault, match="cannot be reached") as fault:
            existing_cluster(Settings(nodes=("a",), urls=(url,)), [LocalHost()])
    message = str(fault.value).replace(port, "PORT")  # it may contain a password by chance
    assert password not in message
    assert quote(password) not in message


def test_a_copied_plan_with_a_hidden_password_is_not_run() -> None:
    """The error says that the copy no longer has its password."""
    with pytest.raises(PlanError, match=r"here\.yaml:9: .*removed when the plan was copied"):
        parse_plan(public(PLAN.replace("URL", "amqp://u:hunter2@h")), HERE, problems_of)


def test_a_notebook_hears_every_problem_without_its_value() -> None:
    """The parameters of a notebook are checked like a plan file."""
    with pytest.raises(PlanError) as error:
        new_plan(
            systems={"rabitmq": {"topologies": ["amqp://u:hunter2@h"], "queues": ["classic"]}},
            test_cases=["rpc-cal"],
            load={"green_threads": [0], "duration_s": "long"},
        )
    lines = str(error.value).splitlines()
    assert len(lines) == 5
    assert "hunter2" not in str(error.value)
    assert any("did you mean 'rabbitmq'" in line for line in lines)


def test_a_plan_made_by_a_program_keeps_no_password(tmp_path: Path) -> None:
    """A notebook's plan is stored redacted, with the same cases."""
    data = yaml.safe_load(PLAN.replace("URL", "amqp://u:hunter2@h")) | {"name": "made"}
    plan = plan_from(data, "here")
    with recording(tmp_path, yaml.safe_dump(plan.model_dump(mode="json"))):
        pass
    copied = (tmp_path / "plan.yaml").read_text()
    assert "hunter2" not in copied
    assert [case.id for case in parse_plan(copied, HERE).cases()] == [c.id for c in plan.cases()]
    assert all(isinstance(case, Case) for case in plan.cases())


def test_the_command_line_repeats_no_password(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It holds for every kind of error, whatever text it quotes."""

    def fails() -> None:
        raise SystemFault("client-1 ended; its last line: amqp://u:hunter2@h is refused")

    monkeypatch.setattr(cli, "app", fails)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    with pytest.raises(SystemExit):
        cli.main()
    assert capsys.readouterr().err == (
        "mqperf: client-1 ended; its last line: amqp://u:***@h is refused\n"
    )
    case = parse_plan(PLAN.replace("URL", "amqp://h"), HERE).cases()[0]
    terminal = StringIO()
    with Bar(Console(file=terminal, width=200)) as bar:
        bar.finished(case, Run(tmp_path, case.id, "failed"), "amqp://u:hunter2@h is refused")
    assert "amqp://u:***@h is refused" in terminal.getvalue()


@pytest.mark.starts_programs
def test_short_commands_have_no_password(monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables that a plan refers to are not passed to commands on hosts."""
    monkeypatch.setenv("SECRET", "hunter2")
    variables = LocalHost().run(["env"], timeout_s=60).stdout
    assert "PATH=" in variables
    assert "hunter2" not in variables
