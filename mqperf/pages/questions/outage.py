"""The effect on clients of a node or a link that is stopped, killed or cut."""

from collections.abc import Iterator, Sequence

import pandas as pd

from mqperf.base.one_line import amount
from mqperf.pages.questions.question import MORE_REPEATS, Answer, Answering
from mqperf.pages.questions.words import Row, bold, case_of, cited, listed, spanned, where_of
from mqperf.pages.report import drawings
from mqperf.pages.report.rst import Text
from mqperf.pages.sections.actions import of_actions
from mqperf.plan.test_cases import TEST_CASES
from mqperf.study.tables import Tables, varied
from mqperf.study.tables.axes import SWEEP
from mqperf.study.tables.places import CONDITION

UNTRUE = ("action-late", "pause-by-chance")
"""Kinds of doubt about the figures of an action."""

ANY = "script"
"""An action whose name does not say what it does."""

NEGLIGIBLE_S = 0.05
"""Shorter times print as 0.0 s."""


def asked(tables: Tables) -> bool:
    """Return whether actions were executed while messages were sent."""
    return bool(len(tables["outages"]))


def answer(tables: Tables) -> Answer | None:
    """Answer with outage, losses and recovery for each kind of action on each node, by load."""
    actions = _with_condition(of_actions(tables))
    names = [name for name in ("threads", *varied(actions)) if name != CONDITION]
    varying = [name for name in names if len(actions[name].unique()) > 1]
    keys = [*SWEEP, "action", "node", *varying]
    kinds = [of_kind for _, of_kind in actions.groupby(keys, sort=False, dropna=False)]
    alone = actions["run"].is_unique
    return Answer(
        question="What do clients see of each failure?",
        sentences=[_sentence(of_kind, varying, tables, alone=alone) for of_kind in kinds],
        drawing=drawings.around("Throughput around each failure", tables["intervals"], actions),
        settle=[*_settle(actions, len(kinds))],
    )


def _with_condition(actions: pd.DataFrame) -> pd.DataFrame:
    """Append the condition to the node, if action and node do not identify what was done."""
    names = ["action", "node"]
    if CONDITION in actions:
        kinds = actions.drop_duplicates([*names, CONDITION])
        if kinds.duplicated(names).any() or kinds["action"].eq(ANY).any():
            return actions.assign(node=actions["node"] + " (" + actions[CONDITION] + ")")
    return actions


def _sentence(
    of_kind: pd.DataFrame, varying: Sequence[str], tables: Tables, *, alone: bool
) -> Text:
    """Describe an action; ``alone`` means one per run, so that all duplicates are its own."""
    row = of_kind.iloc[0].to_dict()
    parts = [*_parts(of_kind, TEST_CASES[row["test_case"]].noun, alone=alone)]
    case = case_of(row) if len(tables["outages"]["test_case"].unique()) > 1 else ""
    times = amount(len(of_kind), "time") if len(of_kind) > 1 else ""
    subject = bold(_action(row, of_kind), case, where_of(row, varying, tables), times)
    doubts = tables["doubts"][tables["doubts"]["run"].isin(of_kind["run"])]
    doubted = cited(", ".join(kind for kind in UNTRUE if doubts["kind"].eq(kind).any()))
    return subject + Text(": {}{}.").format(listed(parts), doubted)


def _action(row: Row, of_kind: pd.DataFrame) -> str:
    """Describe an action: ``kill of Master for 4.0 s``."""
    downtimes = of_kind["downtime_s"].dropna()
    span = f" for {spanned(downtimes, 's')}" if len(downtimes) else ""
    return f"{row['action']} of {row['node']}{span}"


def _parts(of_kind: pd.DataFrame, noun: str, *, alone: bool) -> Iterator[str]:
    """Yield outage, largest latency, lost and duplicated messages, and time of recovery."""
    outage, slowest = (of_kind[name].dropna() for name in ("outage_s", "latency_max_s"))
    if outage.max() < NEGLIGIBLE_S:
        yield "no interruption"
    elif len(outage):
        yield f"no {noun} for {spanned(outage, 's')}"
    if slowest.max() > max(2 * outage.max(), NEGLIGIBLE_S):
        yield f"the slowest {noun} took {spanned(slowest, 's')}"
    for name, word in (("lost", "lost"), ("duplicates", "duplicated")):
        if len(counts := of_kind[name].dropna()):
            ends = dict.fromkeys(f"{int(count):,}" for count in (counts.min(), counts.max()))
            of_run = name == "duplicates" and counts.any() and not alone
            known = f" in {len(counts)} of {len(of_kind)}" if len(counts) < len(of_kind) else ""
            yield f"{' to '.join(ends)} {word}{' in the whole run' if of_run else ''}{known}"
    recovered = of_kind["recovery_s"].dropna()
    if len(recovered) < len(of_kind):
        yield "throughput did not recover within the run" + (
            f" in {len(of_kind) - len(recovered)} of {len(of_kind)}" if len(recovered) else ""
        )
    elif recovered.max() < NEGLIGIBLE_S:
        yield "throughput recovered by its end"
    else:
        yield f"throughput recovered {spanned(recovered, 's')} after its end"


def _settle(actions: pd.DataFrame, kinds: int) -> Iterator[Text]:
    if actions["recovery_s"].isna().any():
        yield Text(
            "A longer *duration_s* after the last action would show when throughput recovers."
        )
    if len(actions) == kinds:
        yield MORE_REPEATS


ANSWERING = Answering("outage", asked, answer)
