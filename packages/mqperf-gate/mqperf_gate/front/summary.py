"""The result of a gate, as text for people and for continuous integration."""

from collections.abc import Iterator, Sequence

from mqperf.base.one_line import amount, one_line
from mqperf_gate.front.verdicts import FAILING, UNDECIDED, UNLIKE, Gated, Verdict
from mqperf_projects.front.junit import Case, suite

LONGEST = 500
"""The most characters of a line of text from records and plans."""


def lines(gated: Gated) -> Iterator[str]:
    """A line for each verdict, then failed runs, differences and, where one fails, doubts."""
    for verdict in gated.verdicts:
        word = "FAIL" if verdict.outcome in FAILING else "pass"
        yield f"{word}  {verdict.compared}: {_verdict_text(verdict)}"
    yield from (f"FAIL  a run failed: {reason}" for reason in gated.failed)
    yield from (f"not alike: {text}" for text in gated.unlike)
    if gated.alone:
        yield f"not compared: {gated.alone}"
    if any(verdict.outcome in FAILING for verdict in gated.verdicts):
        yield from (f"doubt: {one_line(text, LONGEST)}" for text in gated.doubts)


def markdown(gated: Gated, *, passes: bool) -> str:
    """The same as a Markdown page, for the summary of a pipeline."""
    rows = [
        f"| {_cell(verdict.compared)} | {verdict.change} | {verdict.repeats} | {verdict.outcome} |"
        for verdict in gated.verdicts
    ]
    sections = [
        f"## mqperf gate: {'passed' if passes else 'failed'}",
        "\n".join(
            ["| what | throughput | repeats | verdict |", "|---|---|---|---|", *rows],
        ),
        _list("Runs failed:", gated.failed),
        _list("The machine or versions differ, so throughput does not fail:", gated.unlike),
        f"Not compared: {gated.alone}." if gated.alone else "",
        _list("Doubts:", gated.doubts),
        f"Differences of {gated.difference * 100:g} % or more matter.",
    ]
    return "\n\n".join(filter(None, sections)) + "\n"


def junit(gated: Gated, duration_s: float) -> str:
    """A JUnit suite: a case for all runs, and one per verdict, skipped if it is not decided."""
    cases = [Case("runs", error="; ".join(gated.failed))]
    for verdict in gated.verdicts:
        words = _verdict_text(verdict)
        failure = words if verdict.outcome in FAILING else ""
        skipped = words if verdict.outcome in UNDECIDED else ""
        cases.append(Case(verdict.compared, failure=failure, skipped=skipped))
    return suite("mqperf gate", cases, [*gated.unlike, *gated.doubts], duration_s)


def _verdict_text(verdict: Verdict) -> str:
    repeats = f"{verdict.change}, after {amount(verdict.repeats, 'repeat')}"
    if verdict.outcome == UNLIKE:
        return f"{repeats}: the baseline is of another machine or other versions"
    return f"{verdict.outcome}: {repeats}" if verdict.outcome in FAILING else repeats


def _list(title: str, texts: Sequence[str]) -> str:
    items = [f"- {_cell(text)}" for text in texts]
    return "\n".join([title, "", *items]) if items else ""


def _cell(text: str) -> str:
    """Text with all characters escaped that Markdown or HTML would interpret."""
    plain = one_line(text, LONGEST)
    for sign in "\\`*_|<>[]#":
        plain = plain.replace(sign, f"\\{sign}")
    return plain
