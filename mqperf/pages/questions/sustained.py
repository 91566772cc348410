"""The highest rate at which a condition holds, as found by searches."""

from collections.abc import Iterator, Sequence

from mqperf.pages.questions.question import Answer, Answering
from mqperf.pages.questions.words import (
    Row,
    bold,
    case_of,
    cited,
    grouped,
    limit_of,
    rate_unit,
    where_of,
)
from mqperf.pages.report import drawings
from mqperf.pages.report.rst import Text
from mqperf.pages.sections.offered_rates import differing
from mqperf.plan.test_cases import TEST_CASES, in_unit
from mqperf.study.stats.searches import CAUTION
from mqperf.study.tables import Tables
from mqperf.study.tables.places import CONDITION


def asked(tables: Tables) -> bool:
    """Return whether the plan searches for a rate."""
    return bool(len(tables["searches"]))


def answer(tables: Tables) -> Answer | None:
    """Answer with a sentence for each search."""
    searches = tables["searches"]
    varying = differing(searches, "threads", CONDITION)
    rows = searches.to_dict("records")
    contexts = [where_of(row, varying, tables) for row in rows]
    pairs = [*zip(rows, contexts, strict=True)]
    names = [", ".join(filter(None, [case_of(row), context])) for row, context in pairs]
    return Answer(
        question="Which rate is sustained?",
        sentences=[
            bold(case_of(row), context)
            + Text(": {}{}.").format(_sustained(row), cited(row["doubted"]))
            for row, context in pairs
        ],
        drawing=drawings.brackets(
            "Highest rate that holds",
            searches.assign(what=names),
            "held_rate_msg_s",
            "broken_rate_msg_s",
            ("limit_rate_msg_s_low", "limit_rate_msg_s_high"),
        ),
        settle=[*_settle(rows)],
    )


def _sustained(row: Row) -> Text:
    """Return the limit with its interval, or the result of a search that did not find it."""
    unit, held, broken = rate_unit(row), row["held_rate_msg_s"], row["broken_rate_msg_s"]
    if row["search_ends"] == "beyond":
        sentence = Text("at least **{} {}**, the highest that was searched, with {}")
        return sentence.format(grouped(held), unit, row["hold"])
    if row["search_ends"] != "found":
        text = in_unit(str(row["text"]), TEST_CASES[row["test_case"]].unit)
        return Text.escape(text.removesuffix("."))
    ends = (grouped(row[f"limit_rate_msg_s_{end}"]) for end in ("low", "high"))
    reason = row["broken_by"]
    why = Text(" ({})").format(reason) if isinstance(reason, str) else Text()
    found = "**{} to {} {}** (95 % interval) with {}: most runs hold at {}, and not at {}{}{}"
    return Text(found).format(
        *ends, unit, row["hold"], grouped(held), grouped(broken), why, limit_of(row)
    )


def _settle(rows: Sequence[Row]) -> Iterator[Text]:
    if any(str(row["text"]).endswith(CAUTION) for row in rows):
        yield Text.escape(CAUTION.strip())


ANSWERING = Answering("sustained", asked, answer)
