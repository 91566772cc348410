"""What it costs clients that a node or a link is stopped, killed or cut."""

from collections.abc import Iterator, Sequence

import pandas as pd

from mqperf.base.one_line import amount
from mqperf.pages.questions.question import MORE_REPEATS, Answer, Answering
from mqperf.pages.questions.words import Row, bold, case_of, cited, listed, spanned, where_of
from mqperf.pages.report import drawings
from mqperf.pages.report.rst import Text
from mqperf.pages.sections import rows
from mqperf.plan.test_cases import TEST_CASES
from mqperf.study.tables import Tables, varied
from mqperf.study.tables.axes import SWEEP
from mqperf.study.tables.places import CONDITION

UNTRUE = ("action-late", "pause-by-chance")
"""Kinds of doubt about what is told of an action."""

ANY = "script"
"""An action that may do anything."""

SOON_S = 0.05
"""What is printed as no time at all."""


def asked(tables: Tables) -> bool:
    """Where actions were done while messages were sent."""
    return bool(len(tables["outages"]))


def answer(tables: Tables) -> Answer | None:
    """A sentence for each kind of action on each node, by load: outage, losses and recovery."""
    acted = _named(rows.outages(tables))
    names = [name for name in ("threads", *varied(acted)) if name != CONDITION]
    varying = [name for name in names if len(acted[name].unique()) > 1]
    keys = [*SWEEP, "action", "node", *varying]
    kinds = [part for _, part in acted.groupby(keys, sort=False, dropna=False)]
    alone = acted["run"].is_unique
    return Answer(
        question="What do clients see of each failure?",
        sentences=[_sentence(part, varying, tables, alone=alone) for part in kinds],
        drawing=drawings.around("Throughput around each failure", tables["intervals"], acted),
        settle=[*_settle(acted, len(kinds))],
    )


def _named(acted: pd.DataFrame) -> pd.DataFrame:
    """The condition behind each node, where actions do not say what was done to it."""
    names = ["action", "node"]
    if CONDITION in acted:
        kinds = acted.drop_duplicates([*names, CONDITION])
        if kinds.duplicated(names).any() or kinds["action"].eq(ANY).any():
            return acted.assign(node=acted["node"] + " (" + acted[CONDITION] + ")")
    return acted


def _sentence(
    of_kind: pd.DataFrame, varying: Sequence[str], tables: Tables, *, alone: bool
) -> Text:
    """``alone`` says that runs have one action: their duplicates are counted over all of it."""
    row = of_kind.iloc[0].to_dict()
    parts = [*_parts(of_kind, TEST_CASES[row["test_case"]].noun, alone=alone)]
    case = case_of(row) if len(tables["outages"]["test_case"].unique()) > 1 else ""
    often = amount(len(of_kind), "time") if len(of_kind) > 1 else ""
    subject = bold(_done(row, of_kind), case, where_of(row, varying, tables), often)
    doubts = tables["doubts"][tables["doubts"]["run"].isin(of_kind["run"])]
    doubted = cited(", ".join(kind for kind in UNTRUE if doubts["kind"].eq(kind).any()))
    return subject + Text(": {}{}.").format(listed(parts), doubted)


def _done(row: Row, of_kind: pd.DataFrame) -> str:
    """``kill of Master for 4.0 s``."""
    lasted = of_kind["downtime_s"].dropna()
    span = f" for {spanned(lasted, 's')}" if len(lasted) else ""
    return f"{row['action']} of {row['node']}{span}"


def _parts(of_kind: pd.DataFrame, noun: str, *, alone: bool) -> Iterator[str]:
    """For how long nothing came, how slow it was, what was lost or came twice, and until when."""
    outage, slowest = (of_kind[name].dropna() for name in ("outage_s", "latency_max_s"))
    if outage.max() < SOON_S:
        yield f"{noun}s at all times"
    elif len(outage):
        yield f"no {noun} for {spanned(outage, 's')}"
    if slowest.max() > max(2 * outage.max(), SOON_S):
        yield f"the slowest took {spanned(slowest, 's')}"
    for name, word in (("lost", "lost"), ("duplicates", "duplicated")):
        if len(counts := of_kind[name].dropna()):
            ends = dict.fromkeys(f"{int(count):,}" for count in (counts.min(), counts.max()))
            over = name == "duplicates" and counts.any() and not alone
            known = f" in {len(counts)} of {len(of_kind)}" if len(counts) < len(of_kind) else ""
            yield f"{' to '.join(ends)} {word}{' in the whole run' if over else ''}{known}"
    recovered = of_kind["recovery_s"].dropna()
    if len(recovered) < len(of_kind):
        yield "throughput was not seen to come back" + (
            f" in {len(of_kind) - len(recovered)} of {len(of_kind)}" if len(recovered) else ""
        )
    elif recovered.max() < SOON_S:
        yield "throughput as before at its end"
    else:
        yield f"throughput as before {spanned(recovered, 's')} after its end"


def _settle(acted: pd.DataFrame, kinds: int) -> Iterator[Text]:
    if acted["recovery_s"].isna().any():
        yield Text(
            "A longer *duration_s* after the last action would tell when throughput is back."
        )
    if len(acted) == kinds:
        yield MORE_REPEATS


ANSWERING = Answering("outage", asked, answer)
