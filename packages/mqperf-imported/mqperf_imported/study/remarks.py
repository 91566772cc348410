"""Finds contradictions between the text of a report and itself or its figures."""

from collections.abc import Iterator, Sequence

from mqperf_imported.study import words
from mqperf_imported.study.cells import Remark, meaning
from mqperf_imported.study.documents import Document, Grid, Phrase
from mqperf_imported.study.words import Identity

WORDING = "wording"
INCOMPLETE = "incomplete"


def of_document(document: Document, about: Identity, tables: Sequence[Grid]) -> Iterator[Remark]:
    """Yield all inconsistencies in the report's text, in the order of the rules below."""
    for kind, phrase, text in (
        *_contradictions(about),
        *_sentences(document, about, tables),
        *_misplaced(tables),
        *_without_figures(document, tables),
    ):
        yield Remark(
            kind=kind,
            text=text,
            source=f"{document.label}:{phrase.line}",
            system=about.system,
            topology=about.topology,
            queues=about.queues,
            test_case=words.test_case_of_section(phrase),
            evidence={"quote": phrase.text},
        )


def _contradictions(about: Identity) -> Iterator[tuple[str, Phrase, str]]:
    for believed, other in about.contradictions:
        text = (
            f"line {other.phrase.line} stands for {other.subject} {other.value!r}, line"
            f" {believed.phrase.line} for {believed.value!r}, which is believed"
        )
        yield WORDING, other.phrase, text


def _sentences(
    document: Document, about: Identity, tables: Sequence[Grid]
) -> Iterator[tuple[str, Phrase, str]]:
    for phrase in document.paragraphs:
        reasons = {name: f"speaks of {name}" for name in words.strangers(about.title, phrase.text)}
        if "CPU" in phrase.text and _lacks_cpu(phrase, tables):
            reasons["CPU"] = "announces CPU, of which its table has no column"
        if reasons:
            sentence = words.sentence_with(phrase.text, next(iter(reasons)))
            problems = " and ".join(reasons.values())
            yield WORDING, phrase, f"the report on {about.title} {problems}: {sentence!r}"


def _lacks_cpu(phrase: Phrase, tables: Sequence[Grid]) -> bool:
    """Whether the phrase's own section has a table of figures, but none with CPU."""
    grids = [grid for grid in tables if grid.caption.sections == phrase.sections]
    columns = [meaning(heading.text) for grid in grids for heading in grid.headings]
    return bool(grids) and not any(column and column.process for column in columns)


def _misplaced(tables: Sequence[Grid]) -> Iterator[tuple[str, Phrase, str]]:
    for grid in tables:
        of_section = words.test_case_of_section(grid.caption)
        of_caption = words.test_case_of_caption(grid.caption)
        if of_section not in (None, of_caption):
            text = (
                f"the table captioned {grid.caption.text!r} stands in the section on {of_section};"
                " the caption is believed"
            )
            yield WORDING, grid.caption, text


def _without_figures(
    document: Document, tables: Sequence[Grid]
) -> Iterator[tuple[str, Phrase, str]]:
    covered = {words.test_case_of_caption(grid.caption) for grid in tables}
    for title in document.titles:
        if words.SECTION.fullmatch(title.text) is None:
            continue
        if words.test_case_of_section(title) not in covered:
            section = [text for text in document.paragraphs if title.text in text.sections]
            quotation = f": {section[0].text!r}" if section else ""
            yield INCOMPLETE, title, f"the report has no figures of this test case{quotation}"
