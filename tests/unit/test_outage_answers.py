"""Answers to the question "outage": what clients see of each failure."""

import pandas as pd
import pytest
from replies import replies, sample


def test_losses_of_one_load_are_not_those_of_another() -> None:
    """Each settlement has its own sentence, not a common range."""
    frames = {**sample("faults")}
    for name in ("runs", "points", "messages", "outages", "action_phases"):
        first = frames[name]
        again = {key: first[key] + "-again" for key in {"run", "point"} & {*first.columns}}
        again |= {"lost": first["lost"] * 2} if "lost" in first.columns else {}
        other = first.assign(**again)
        if name in {"runs", "points"}:
            first, other = (
                frame.assign(settlement=value)
                for frame, value in ((first, "at-least-once"), (other, "pre-settled"))
            )
        frames[name] = pd.concat([first, other], ignore_index=True)
    [sentences] = replies(frames, "outage").values()
    assert [text.partition(" lost")[0] for text in sentences] == [
        "stop of R2 for 3.0 s (settlement at-least-once): no message for 9.1 s, 4,558",
        "stop of R2 for 3.0 s (settlement pre-settled): no message for 9.1 s, 9,116",
    ]


def test_losses_of_some_repeats_are_not_those_of_all() -> None:
    """If losses are unknown for some repeats, the number of known ones is stated."""
    frames = {**sample("faults")}
    for name in ("runs", "messages", "outages", "action_phases"):
        other = frames[name].assign(run=frames[name]["run"] + "-again")
        if name == "action_phases":
            other = other.assign(lost=pd.array([pd.NA] * len(other), dtype="Int64"))
        frames[name] = pd.concat([frames[name], other], ignore_index=True)
    [[sentence]] = replies(frames, "outage").values()
    assert "(2 times): no message for 9.1 s, 4,558 lost in 1 of 2, 0 duplicated and" in sentence


def test_a_pause_that_may_be_chance_has_its_doubt() -> None:
    """Other doubts of the run are not in the sentence."""
    frames = sample("faults")
    run = frames["outages"]["run"].iloc[0]
    for kind, shown in (("pause-by-chance", True), ("lost", False)):
        doubts = pd.DataFrame({"run": [run], "kind": kind})
        planted = {**frames, "doubts": doubts.reindex(columns=frames["doubts"].columns)}
        [[sentence]] = replies(planted, "outage").values()
        assert sentence.endswith("after its end; doubted: pause-by-chance.") == shown


def test_duplicates_of_several_actions_are_those_of_the_run() -> None:
    """Duplicates are counted per run, so each action has the same number."""
    frames = {**sample("faults")}
    frames["messages"] = frames["messages"].assign(duplicates=5)
    for name in ("outages", "action_phases"):
        other = frames[name].assign(node="R3", commanded_s=12.0)
        frames[name] = pd.concat([frames[name], other], ignore_index=True)
    [sentences] = replies(frames, "outage").values()
    assert [", 5 duplicated in the whole run and " in text for text in sentences] == [True] * 2


@pytest.mark.takes_long
def test_a_failure_without_a_pause_has_the_slowest_message() -> None:
    """For example if only some connections are cut."""
    frames = sample("wan")
    outages = frames["outages"].assign(outage_s=0.03)
    phases = frames["action_phases"].assign(latency_max_s=1.1)
    changed = {**frames, "outages": outages, "action_phases": phases}
    [sentence] = replies(changed, "outage").popitem()[1]
    assert "for 5.0 s: no interruption, the slowest creation took 1.1 s, 0 lost" in sentence


def test_a_script_is_named_by_its_condition() -> None:
    """The name of a script does not describe it; names of other actions do."""
    frames = {**sample("faults")}
    for name in ("runs", "points"):
        again = {key: frames[name][key] + "-again" for key in {"run", "point"} & {*frames[name]}}
        kinds = {"R2 replaced": {}, "undisturbed": again}
        each = [frames[name].assign(condition=kind, **ids) for kind, ids in kinds.items()]
        frames[name] = pd.concat(each, ignore_index=True)
    [[named]] = replies(frames, "outage").values()
    for name in ("outages", "action_phases"):
        frames[name] = frames[name].assign(action="script")
    [[sentence]] = replies(frames, "outage").values()
    assert named.startswith("stop of R2 for 3.0 s: ")
    assert sentence.startswith("script of R2 (R2 replaced) for 3.0 s: ")


def test_messages_that_took_no_time_are_not_the_slowest() -> None:
    """Without a pause a slowest message of 0.0 s is left out."""
    frames = {**sample("faults")}
    frames["outages"] = frames["outages"].assign(outage_s=0.0)
    for slowest, shown in ((0.04, False), (0.3, True)):
        for name in ("outages", "action_phases"):
            if "latency_max_s" in frames[name]:
                frames[name] = frames[name].assign(latency_max_s=slowest)
        [[sentence]] = replies(frames, "outage").values()
        assert ("the slowest message took 0.3 s" in sentence) == shown
        assert "took 0.0 s" not in sentence
