"""What clients see of each failure, as the answer to ``outage`` says it."""

import pandas as pd
from said import said, sample


def test_losses_of_one_load_are_not_those_of_another() -> None:
    """Of two ways to settle there is a sentence for each, and no range over both."""
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
    [sentences] = said(frames, "outage").values()
    assert [text.partition(" lost")[0] for text in sentences] == [
        "stop of R2 for 3.0 s (settlement at-least-once): no message for 9.1 s, 4,558",
        "stop of R2 for 3.0 s (settlement pre-settled): no message for 9.1 s, 9,116",
    ]


def test_losses_of_some_repeats_are_not_those_of_all() -> None:
    """Where those of others are not known, it is said of how many they are."""
    frames = {**sample("faults")}
    for name in ("runs", "messages", "outages", "action_phases"):
        other = frames[name].assign(run=frames[name]["run"] + "-again")
        if name == "action_phases":
            other = other.assign(lost=pd.array([pd.NA] * len(other), dtype="Int64"))
        frames[name] = pd.concat([frames[name], other], ignore_index=True)
    [[sentence]] = said(frames, "outage").values()
    assert "(2 times): no message for 9.1 s, 4,558 lost in 1 of 2, 0 duplicated and" in sentence


def test_a_pause_that_may_be_chance_is_told_with_its_doubt() -> None:
    """Other doubts of the run are told beside the answers."""
    frames = sample("faults")
    run = frames["outages"]["run"].iloc[0]
    for kind, told in (("pause-by-chance", True), ("lost", False)):
        doubts = pd.DataFrame({"run": [run], "kind": kind})
        planted = {**frames, "doubts": doubts.reindex(columns=frames["doubts"].columns)}
        [[sentence]] = said(planted, "outage").values()
        assert sentence.endswith("after its end; doubted: pause-by-chance.") == told


def test_duplicates_of_several_actions_are_those_of_the_run() -> None:
    """They are counted for a run, so the same ones stand beside each of its actions."""
    frames = {**sample("faults")}
    frames["messages"] = frames["messages"].assign(duplicates=5)
    for name in ("outages", "action_phases"):
        other = frames[name].assign(node="R3", commanded_s=12.0)
        frames[name] = pd.concat([frames[name], other], ignore_index=True)
    [sentences] = said(frames, "outage").values()
    assert [", 5 duplicated in the whole run and " in text for text in sentences] == [True] * 2


def test_a_failure_without_a_pause_tells_of_the_slowest() -> None:
    """As where some connections of many are cut."""
    frames = sample("wan")
    outages = frames["outages"].assign(outage_s=0.03)
    phases = frames["action_phases"].assign(latency_max_s=1.1)
    [sentence] = said({**frames, "outages": outages, "action_phases": phases}, "outage").popitem()[
        1
    ]
    assert "for 5.0 s: creations at all times, the slowest took 1.1 s, 0 lost" in sentence


def test_a_script_is_told_by_its_condition() -> None:
    """Its name says nothing of what it does; that of another action does."""
    frames = {**sample("faults")}
    for name in ("runs", "points"):
        again = {key: frames[name][key] + "-again" for key in {"run", "point"} & {*frames[name]}}
        kinds = {"R2 replaced": {}, "undisturbed": again}
        each = [frames[name].assign(condition=kind, **ids) for kind, ids in kinds.items()]
        frames[name] = pd.concat(each, ignore_index=True)
    [[named]] = said(frames, "outage").values()
    for name in ("outages", "action_phases"):
        frames[name] = frames[name].assign(action="script")
    [[sentence]] = said(frames, "outage").values()
    assert named.startswith("stop of R2 for 3.0 s: ")
    assert sentence.startswith("script of R2 (R2 replaced) for 3.0 s: ")


def test_messages_that_took_no_time_are_not_told_as_the_slowest() -> None:
    """Where nothing stood still, a slowest message of 0.0 s says nothing."""
    frames = {**sample("faults")}
    frames["outages"] = frames["outages"].assign(outage_s=0.0)
    for slowest, told in ((0.04, False), (0.3, True)):
        for name in ("outages", "action_phases"):
            if "latency_max_s" in frames[name]:
                frames[name] = frames[name].assign(latency_max_s=slowest)
        [[sentence]] = said(frames, "outage").values()
        assert ("the slowest took 0.3 s" in sentence) == told
        assert "took 0.0 s" not in sentence
