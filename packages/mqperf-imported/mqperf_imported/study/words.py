"""Extracts system, topology and queues from the text of a report.

The title has precedence over sentences, and these over the name of the diagram.  Claims that differ
from the one with precedence are recorded as contradictions.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mqperf.base.errors import TableError
from mqperf.base.problems import nearest
from mqperf.plan.topologies import QUEUES, TOPOLOGIES
from mqperf_imported.study.cells import DIRECT, NO_QUEUES, TITLES
from mqperf_imported.study.documents import Document, Phrase

TITLE = re.compile(
    r"(?P<system>\w[\w .-]*) performance(?: \((?P<topology>[^)]+)\))?(?P<suffix>,.+)?"
)
BROKERLESS = ("ZeroMQ",)
"""Systems in which clients and servers are always connected directly."""

SAME_HOST = re.compile(r"executed on the same physical host", re.IGNORECASE)
CONNECTED = {
    re.compile(r"connected to (?:the )?Master node", re.IGNORECASE): "cmsm",
    re.compile(r"connected to different slave nodes", re.IGNORECASE): "cs1ss2",
}
HA = re.compile(r"HA queues`?_? are (?P<state>enabled|disabled)")
DIAGRAM = re.compile(r"topology_(?P<topology>[a-z0-9]+?)(?P<ha>_ha)?\b(?!_)")
GREEN_THREADS = re.compile(r"executor running in ([1-9][0-9]{0,8}) threads")
SECTION = re.compile(r"Test Case \d+: (RPC CALL|RPC CAST|Notification)\b.*", re.IGNORECASE)
CAPTION = re.compile(
    r"(?:\w+ nodes CPU consumption during )?(RPC CALL|RPC CAST|NOTIFY)"
    r"(?: Message count| throughput.+ depending on thread count| load test)",
    re.IGNORECASE,
)
TEST_CASES = {
    "rpc call": "rpc-call",
    "rpc cast": "rpc-cast",
    "notify": "notify",
    "notification": "notify",
}


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement of a phrase about the topology or the queues."""

    subject: str
    value: str
    phrase: Phrase


@dataclass(frozen=True, slots=True)
class Identity:
    """The system, topology and queues of a report, and its contradictions about them."""

    system: str
    title: str
    topology: str
    queues: str
    contradictions: tuple[tuple[Claim, Claim], ...]


def identity(document: Document) -> Identity:
    """Return the identity of a report; raises ``TableError`` if its text does not contain it."""
    file, title = document.label, next(iter(document.titles), Phrase("", 1))
    match = TITLE.fullmatch(title.text)
    if match is None:
        raise TableError(
            f"{file}:{title.line}: {title.text!r} is not the title of a performance report,"
            " such as 'RabbitMQ performance (Client and Server connected to Master)'"
        )
    claims = [
        *_of_title(file, title, match),
        *_of_body(document.paragraphs),
        *_of_images(document.images),
    ]
    topology = _first(claims, "topology")
    if topology is None:
        raise TableError(f"{file}: neither title nor text says which node the client connects to")
    queues = _first(claims, "queues")
    if queues is None:
        raise TableError(f"{file}: neither title nor text says which kind of queues was used")
    return Identity(
        system=re.sub(r"\W+", "-", match["system"].lower()),
        title=match["system"],
        topology=topology.value,
        queues=queues.value,
        contradictions=tuple(
            (believed, other)
            for believed in (topology, queues)
            for other in claims
            if other.subject == believed.subject and not _agree(believed.value, other.value)
        ),
    )


def test_case_of_section(phrase: Phrase) -> str | None:
    """Return the test case of the section that contains the phrase, or None."""
    matches = (SECTION.fullmatch(title) for title in (phrase.text, *phrase.sections))
    return next((TEST_CASES[match[1].lower()] for match in matches if match), None)


def test_case_of_caption(caption: Phrase) -> str | None:
    """Return the test case whose figures the caption announces, or None."""
    match = CAPTION.fullmatch(caption.text)
    return TEST_CASES[match[1].lower()] if match else None


def green_threads(paragraphs: Sequence[Phrase]) -> int | None:
    """Return the green threads of each client process, or None if the text does not say."""
    matches = (GREEN_THREADS.search(phrase.text) for phrase in paragraphs)
    return next((int(match[1]) for match in matches if match), None)


def same_host(paragraphs: Sequence[Phrase]) -> bool:
    """Whether the text says that clients and servers ran on one host."""
    return any(SAME_HOST.search(phrase.text) for phrase in paragraphs)


def strangers(system_title: str, text: str) -> list[str]:
    """Return the other systems that the text mentions."""
    return [
        title
        for title in TITLES.values()
        if title != system_title and re.search(rf"\b{title}\b", text)
    ]


def sentence_with(text: str, word: str) -> str:
    """Return the sentence of the text that contains the word."""
    sentences = re.split(r"(?<=[.!?])\s+", text)
    return next((sentence for sentence in sentences if word in sentence), text)


def _of_title(file: str, title: Phrase, match: re.Match[str]) -> Iterator[Claim]:
    topology = DIRECT if match["system"] in BROKERLESS else None
    if match["topology"] is not None:
        topologies = {entry.title: name for name, entry in TOPOLOGIES.items()}
        topology = _known(f"{file}:{title.line}: topology", match["topology"], topologies)
    if topology is not None:
        yield Claim("topology", topology, title)
    if match["suffix"] is not None:
        suffixes = {entry.title: name for name, entry in QUEUES.items() if entry.title}
        where = f"{file}:{title.line}: end of the title"
        yield Claim("queues", _known(where, match["suffix"], suffixes), title)
    elif topology is not None:
        yield Claim("queues", NO_QUEUES if topology == DIRECT else "classic", title)


def _known(where: str, title: str, names: Mapping[str, str]) -> str:
    if title not in names:
        raise TableError(f"{where} {title!r} is unknown; {nearest(title, [*names])}")
    return names[title]


def _of_body(body: Sequence[Phrase]) -> Iterator[Claim]:
    for phrase in body:
        for pattern, topology in CONNECTED.items():
            if pattern.search(phrase.text):
                yield Claim("topology", topology, phrase)
        if match := HA.search(phrase.text):
            yield Claim("queues", _mirrored(match["state"] == "enabled"), phrase)


def _of_images(images: Sequence[Phrase]) -> Iterator[Claim]:
    for phrase in images:
        match = DIAGRAM.search(phrase.text)
        if match and match["topology"] in TOPOLOGIES:
            yield Claim("topology", match["topology"], phrase)
            yield Claim("queues", _mirrored(match["ha"] is not None), phrase)


def _mirrored(enabled: bool) -> str:  # noqa: FBT001 - the only argument
    return "mirrored" if enabled else "classic"


def _agree(believed: str, other: str) -> bool:
    # a report on any other kind of queue rightly says that mirroring is disabled
    return other == believed or (other == "classic" and believed != "mirrored")


def _first(claims: Sequence[Claim], subject: str) -> Claim | None:
    return next((claim for claim in claims if claim.subject == subject), None)
