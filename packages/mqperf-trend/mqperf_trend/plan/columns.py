"""Columns of a trend: folders of runs in the order of time, and the steps from one to the next."""

from mqperf.plan.columns.column import count, number, ratio, text

FOLDER = (
    text("folder", "The folder of runs, or of a published report, as it was given."),
    number(
        "folder_place",
        "Its place in time, from 1, by the start of its first run; folders without that time come"
        " first, as they were given.",
        "place in time",
    ),
    text("folder_label", "Its label in figures: its day, or its name if several are of one day."),
    number(
        "machine_number",
        "Which machine it was measured on, from 1: folders with the same number have the same"
        " processor, cores, network card, and memory to 2 %.",
        "machine",
    ),
)

FOLDERS = (
    text("hardware", "Description of that machine; not stated if the runs do not record it."),
    count("points_measured", "Points with figures.", "points", unit=""),
    count("doubts_raised", "Doubts about them.", "doubts", unit=""),
    count("control_runs_made", "Whole control runs.", "control runs", unit=""),
    text("copy_of", "The earlier folder that holds the same runs, to the message, if any."),
)

STEP = (
    text("folder_a", "The last of the folders that A is the mean of.", "before"),
    text("folder_b", "The folder that is judged: B.", "after"),
)

STEPS_OF_TREND = (
    count(
        "reference_folders",
        "Folders that A is the mean of: the first on that machine since the last change, up to 5.",
        unit="",
    ),
    ratio("step_ratio", "B / the folder before alone.", "B / before"),
    ratio(
        "control_ratio",
        "B / A of the same figure of the control runs; empty where there are none in both.",
        "control runs, B / A",
    ),
    ratio("control_ratio_low", "Lower end of its 95 % interval.", "control runs, B / A low"),
    ratio("control_ratio_high", "Upper end of it.", "control runs, B / A high"),
    ratio(
        "beyond_control",
        "Ratio of the point / that of the control runs: the change that these do not show.",
        "beyond control runs",
    ),
    text(
        "cause",
        "Of a step with a verdict: change, which control runs do not show; machine drift, which"
        " they show as well while all versions stayed the same; versions or machine, which they"
        " show as well while versions changed; or not watched, without control runs in both.",
    ),
    text(
        "differs",
        "What else differs between both folders, beside the days; where they are not neighbours,"
        " of a step with a verdict.",
    ),
)

SUSTAINED_STEP = (
    text(
        "step",
        "From the folders before on the same machine: the verdict on that point's throughput, with"
        " its cause if that is no change, where both sustain it at the same point; at another"
        " point; or none where there is no such folder, or either sustains none.",
    ),
    ratio("detectable", "Relative change of that throughput that would usually have been found."),
    text("moved_from", "Where the folder before sustains it, if that is at another point."),
)
