"""Up to which offered rate a system keeps up, and what latency does on the way."""

from collections.abc import Iterator

import pandas as pd

from mqperf.pages.questions.question import Answer, Answering
from mqperf.pages.questions.words import Row, bold, case_of, grouped, layout_of, rate_unit
from mqperf.pages.report import drawings, limits
from mqperf.pages.report.rst import Text
from mqperf.pages.sections.offered_rates import differing
from mqperf.study.tables import Tables, at, varied
from mqperf.study.tables.axes import SWEEP


def asked(tables: Tables) -> bool:
    """Where several rates are offered, by runs or in steps of one, and no search chooses them."""
    return bool(len(tables["saturation_rates"])) and tables["searches"].empty


def answer(tables: Tables) -> Answer | None:
    """A sentence for each sweep of rates."""
    rates = tables["saturation_rates"]
    if rates.empty:
        return None
    apart = differing(rates, "threads")
    words = [_where(row, apart, tables) for row in rates.to_dict("records")]
    return Answer(
        question="Up to which offered rate does it keep up?",
        sentences=[_sentence(row, apart, tables) for row in rates.to_dict("records")],
        drawing=_drawing(rates.assign(what=words), tables),
        settle=[*_settle(rates)],
    )


def _sentence(row: Row, apart: list[str], tables: Tables) -> Text:
    """The bracket; no number of the plan's grid stands for what was not tried."""
    kept, missed, unit = row["kept_rate_msg_s"], row["missed_rate_msg_s"], rate_unit(row)
    if pd.isna(kept):
        told = Text("does not keep up with {} {}, the lowest rate").format(grouped(missed), unit)
    elif pd.isna(missed):
        told = Text("keeps up with **at least {} {}**, the highest rate").format(
            grouped(kept), unit
        )
    else:
        told = Text("keeps up with **{} {}**, and not with {}").format(
            grouped(kept), unit, grouped(missed)
        )
    limit = str(row["limit"]).partition(":")[0]
    why = f"; {limits.LIMITS[limit]} is the limit" if limit in {"host", "broker", "tester"} else ""
    return bold(_where(row, apart, tables)) + Text(" {}{}.").format(told, why)


def _drawing(rates: pd.DataFrame, tables: Tables) -> drawings.Drawing:
    """Latency at each rate; of several layouts the rates between which each of them ends."""
    points = tables["points"]
    one = len(points[[*SWEEP]].drop_duplicates()) == 1 and points["latency_p99_s"].notna().any()
    if one and "rate_msg_s" in varied(points):
        return drawings.latency("Latency at each offered rate", points, tables)
    caption = "Highest rate that is kept"
    return drawings.brackets(caption, rates, "kept_rate_msg_s", "missed_rate_msg_s")


def _where(row: Row, apart: list[str], tables: Tables) -> str:
    parts = [case_of(row), layout_of(row, tables), at(row, apart) if apart else ""]
    return ", ".join(filter(None, parts))


def _settle(rates: pd.DataFrame) -> Iterator[Text]:
    if rates["missed_rate_msg_s"].isna().any():
        yield Text("Higher *rate_msg_s* would tell where it ends.")
    if rates["kept_rate_msg_s"].isna().any():
        yield Text("Lower *rate_msg_s* would tell where it begins.")
    if (rates["missed_rate_msg_s"] > 2 * rates["kept_rate_msg_s"]).any():
        yield Text("Rates between those two, or *search*, would narrow it down.")


ANSWERING = Answering("saturation", asked, answer)
