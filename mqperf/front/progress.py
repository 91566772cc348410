"""Progress of a sweep on a terminal: current run, finished runs, and remaining time."""

import time
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Self

from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn
from rich.text import Text
from typing_extensions import override

from mqperf.base.one_line import printable
from mqperf.base.redaction import without_passwords
from mqperf.base.terminal import print_line, print_lines
from mqperf.front.live import Ended, Pulse, panel
from mqperf.front.plan_words import OVERHEAD_S, START_S, clock, expected_s, words
from mqperf.lab.runner import Gauge
from mqperf.plan import Case
from mqperf.plan.test_cases import TEST_CASES
from mqperf.record import Run


class _View(Progress):
    """The progress bar, and below it the current phase, and the run being measured."""

    def __init__(self, pulse: Pulse, console: Console) -> None:
        self._pulse = pulse
        super().__init__(
            SpinnerColumn(),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[left]} left"),
            console=console,
            refresh_per_second=1,
            disable=not console.is_terminal,
        )

    @override
    def get_renderables(self) -> Iterable[RenderableType]:
        yield self.make_tasks_table(self.tasks)
        lines = [self.tasks[0].description] if self.tasks else []
        if (scene := self._pulse.scene) is not None:
            lines += panel.lines(scene)
        yield from (Text(printable(line), no_wrap=True, overflow="ellipsis") for line in lines)


class Bar:
    """An observer of the runner: a live view on a terminal, one line per case elsewhere.

    It redraws only once a second, to take little CPU from what is being measured.
    """

    def __init__(self, console: Console, pulse: Pulse | None = None) -> None:
        """Prepare the view; it appears when it is entered.

        With the ``pulse`` of a live view runs are watched even if the output is no terminal.
        """
        self.console = console
        self._live_view = pulse is not None
        self._watched = console.is_terminal or self._live_view
        self._pulse = pulse or Pulse()
        self._bar = _View(self._pulse, console)
        self._task = self._bar.add_task("", total=None, left="?")
        self._todo: list[Case] = []
        self._began = time.monotonic()
        self._last_end: float | None = None
        self._overheads: list[float] = []
        self._default_s = OVERHEAD_S

    def __enter__(self) -> Self:
        """Show the bar."""
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Leave the terminal as it was."""
        self._pulse.leave()
        self._bar.stop()

    def planned(self, todo: Sequence[Case], done: int, starts: int) -> None:
        """Show the number of runs, and the expected time."""
        self._todo = self._pulse.todo = list(todo)
        self._default_s = OVERHEAD_S + START_S * max(starts - 1, 0) / max(len(todo) - 1, 1)
        left = clock(expected_s(todo) + START_S * starts)
        self._bar.update(self._task, total=len(todo) + done, completed=done, left=left)
        already = f"{done} done already, " if done else ""
        print_line(self.console, f"{already}{len(todo)} to run, about {left}")
        import mqperf.pages.run_line  # noqa: F401 (loads pandas now, not during a run)

    def doing(self, what: str, case: Case | None = None) -> None:
        """Show the phase."""
        text = what if case is None else f"{words(case)}: {what}"
        self._pulse.doing = text
        self._bar.update(self._task, description=text)
        if case is None:
            print_line(self.console, text)

    def watching(self, case: Case, gauge: Gauge | None) -> None:
        """Start watching a run every second, or stop if there is no gauge."""
        if gauge is None:
            self._pulse.leave()
        elif self._watched:
            self._pulse.watch(words(case), gauge, TEST_CASES[case.test_case])
        self._pulse.case = None if gauge is None else case

    def finished(self, case: Case, run: Run, failure: str | None) -> None:
        """Show the result of a case, and the remaining time."""
        now = time.monotonic()
        if self._last_end is not None and failure is None:  # the first also started its system
            self._overheads.append(now - self._last_end - case.load_s)
        self._last_end = now
        if case in self._todo:
            self._todo.remove(case)  # only one: several plans may have the same case
        elif self._todo:
            self._todo.pop()  # the number of runs of a search is known in advance, not their cases
        mean = (self._default_s + sum(self._overheads)) / (1 + len(self._overheads))
        self._bar.update(self._task, advance=1, left=clock(expected_s(self._todo, max(mean, 0))))
        if failure is not None:
            self._pulse.ended.append(Ended(case, failed=True, figures={}))
            text = f"failed: {words(case)}: {without_passwords(failure)}"
            print_lines(self.console, text, "red")
            return
        from mqperf.pages import run_line

        figures = run_line.figures_of(run) if self._live_view else {}
        self._pulse.ended.append(Ended(case, failed=False, figures=figures))
        result, elapsed = run_line.of_run_if_sound(run), clock(now - self._began)
        text = f"done: {words(case)}: {result}; {elapsed} so far"
        print_line(self.console, text)
