"""Section and answer on consumers that start late: backlog, drain, effect on publishers."""

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from mqperf.pages.questions.question import Answer, Answering
from mqperf.pages.questions.words import bold, case_of, grouped, rate_unit, spanned, where_of
from mqperf.pages.report.rst import Text
from mqperf.pages.report.words import joined
from mqperf.study.tables import Tables
from mqperf_numbered.pages import parts
from mqperf_numbered.pages.waiting import drawing
from mqperf_numbered.study.backlog import BUILDING, DRAINING, STEADY, TABLE

PHASES = (BUILDING, DRAINING, STEADY)
WHEN = dict(zip(PHASES, ("before", "during", "after"), strict=True))

WORDS = (
    "Consumers start some time after the load, as the plan states. The backlog is the messages that"
    " wait for them; it is drained when no more wait than are sent in 0.1 s, plus those in transit"
    " between hosts, and four of each thread. Latency is that of messages due, or sent, in each"
    " phase: until the backlog is drained it includes the wait for the consumers."
    " Throughput and latency of other sections are over all phases in the window."
)


def asked(tables: Tables) -> bool:
    """Whether consumers of any run start late."""
    return bool(len(tables[TABLE.name]))


def answer(tables: Tables) -> Answer | None:
    """Return a few sentences for each point: the drain, and its effect on publishers."""
    phases, varying = parts.told_apart(tables, TABLE)
    draining = phases[phases["backlog_phase"].eq(DRAINING)]
    longer = Text("A longer *duration_s* would show when the backlog is drained.")
    return parts.answer(
        "How fast is a backlog drained, and how does it affect publishers?",
        phases,
        lambda point: _sentence(point, varying, tables),
        settle=[longer] if draining["drained_s"].isna().any() else [],
        drawing=drawing(draining, tables["intervals"], varying) if len(draining) else None,
    )


def _sentence(point: pd.DataFrame, varying: Sequence[str], tables: Tables) -> Text:
    row, unit = (first := point.iloc[0].to_dict()), rate_unit(first)
    phases = {name: point[point["backlog_phase"].eq(name)] for name in PHASES}
    subject = bold(case_of(row), where_of(row, varying, tables)) + Text(": ")
    if phases[DRAINING].empty:
        return subject + Text("there was no backlog when consumers started.")
    present = {name: rows for name, rows in phases.items() if len(rows)}
    texts = [_drain(phases[DRAINING], point["run"].nunique(), unit), _cost(present, unit)]
    if STEADY in present:
        texts += _waits(present)
    texts += parts.doubted(row, tables)
    return subject + Text(" ").join(texts)


def _drain(draining: pd.DataFrame, all_runs: int, unit: str) -> Text:
    """Describe the backlog, the rate at which it was received, and the time of the drain.

    A drain of less than a second has no rate, as it is shorter than an interval.
    """
    known, runs = draining["drained_s"].dropna(), len(draining)
    brief = len(known) == runs and known.max() < 1
    amount = f"{grouped(draining['waiting'].mean())} {unit.partition('/')[0]}"
    text = Text("a backlog of **{}**").format(amount)
    if runs < all_runs:
        text += Text(", in {} of {} runs,").format(runs, all_runs)
    text += Text(" is ")
    if not brief:
        rate = f"{grouped(draining['throughput_msg_s'].mean())} {unit}"
        text += Text("received at **{}** and ").format(rate)
    if known.empty:
        return text + Text("**not drained** before the load ended.")
    text += Text("drained in **{}**").format("less than 1 s" if brief else spanned(known, "s"))
    if len(known) < runs:
        text += Text(", but in {} of {} runs not before the load ended").format(
            runs - len(known), runs
        )
    return text + Text(".")


def _cost(phases: Mapping[str, pd.DataFrame], unit: str) -> Text:
    """Describe the publishing rate before, during and after the drain, and confirm latency."""
    names = joined([WHEN[name] for name in phases])
    rates = joined([grouped(rows["send_rate_msg_s"].mean()) for rows in phases.values()])
    text = Text("Publishers send {} {} {} the drain").format(rates, unit, names)
    confirms = [rows["confirm_p99_s"].mean() * 1e3 for rows in phases.values()]
    if not any(map(pd.isna, confirms)):
        text += Text(", with a p99 of confirms of {} ms").format(joined([*map(grouped, confirms)]))
    return text + Text(".")


def _waits(phases: Mapping[str, pd.DataFrame]) -> Iterator[Text]:
    """Describe the latency before consumers started, and after the drain, if both are known."""
    latencies = [phases[name]["latency_p99_s"].mean() * 1e3 for name in (BUILDING, STEADY)]
    if not any(map(pd.isna, latencies)):
        yield Text(
            "The p99 latency of what was sent before consumers started is {} ms; after the drain it"
            " is {} ms."
        ).format(*map(grouped, latencies))


ABOUT = "Backlog", "backlog", WORDS

SECTION = parts.section(TABLE, ABOUT, keep=6)
ANSWERING = Answering(TABLE.name, asked, answer)
