"""Drawings in a browser: zoomed panels, and the values shown for a point."""

from pathlib import Path

import pytest
from browsing import Tab
from matplotlib.figure import Figure

import mqperf
from mqperf.pages.figures import write_svg
from mqperf.pages.figures.told import tell

ZOOM = """<!DOCTYPE html><title>none</title>
<iframe src="sweep.svg" style="width:1000px;height:400px"></iframe>
<script>
const frame = document.querySelector("iframe");
frame.addEventListener("load", () => {
  const svg = frame.contentDocument.documentElement;
  const found = [svg.getAttribute("viewBox")];
  const matrix = svg.getScreenCTM();
  const point = (kind, [x, y]) => {
    const place = { clientX: matrix.a * x + matrix.e, clientY: matrix.d * y + matrix.f };
    svg.dispatchEvent(new PointerEvent(kind, { bubbles: true, button: 0, ...place }));
  };
  const [first, second] = JSON.parse(svg.dataset.panels);
  const [left, top, width, height] = first.box;
  const at = (across, up) => [left + across * width, top + (1 - up) * height];
  const panel = (one) => frame.contentDocument.getElementById(one.id);
  const texts = (one, axis) => [...panel(one).querySelectorAll(`[id^="${axis}tick_"], .zoomed`)]
    .filter((tick) => tick.style.display !== "none" && tick.closest(`[id^="matplotlib.axis_"]`) ===
      panel(one).querySelector(`[id^="${axis}tick_"]`).parentNode)
    .map((tick) => tick.textContent.trim()).join(" ");
  const other = panel(second).innerHTML;
  found.push(`${texts(first, "x")}; ${texts(first, "y")}`);
  const line = panel(first).querySelector('[data-series] path[clip-path]');
  const whole = line.getAttribute("d");
  point("pointerdown", at(0.25, 0.5));
  point("pointermove", at(0.75, 1));
  point("pointerup", at(0.75, 1));
  found.push(`${texts(first, "x")}; ${texts(first, "y")}`);
  found.push(JSON.parse(panel(first).dataset.shown).flat().map((end) => end.toFixed(1)).join(" "));
  found.push(line.getAttribute("d") !== whole, panel(second).innerHTML === other);
  point("pointermove", at(0.5, 0.5));
  found.push([...svg.querySelectorAll(".read tspan")].map((one) => one.textContent).join("; "));
  found.push(svg.getAttribute("viewBox"));
  svg.dispatchEvent(new MouseEvent("dblclick"));
  found.push(`${texts(first, "x")}; ${texts(first, "y")}`, line.getAttribute("d") === whole);
  document.title = found.join(" | ");
});
</script>
"""


@pytest.mark.needs_browser
def test_a_zoomed_panel_has_new_ticks_and_reads_its_line(tmp_path: Path, tab: Tab) -> None:
    """A box zooms its panel only; text keeps its size, and a double click resets the view."""
    figure = Figure(figsize=(10, 3), dpi=100)
    for axes in figure.subplots(1, 2):
        [drawn] = axes.plot([0, 10, 20, 30, 40], [0, 100, 300, 350, 400], marker="o")
        tell(drawn, ["throughput"])
        axes.set(xlim=(0, 40), ylim=(0, 400))
    write_svg(figure, tmp_path / "sweep.svg", title="A sweep", description="What it shows.")
    (tmp_path / "page.html").write_text(ZOOM)
    tab.show((tmp_path / "page.html").as_uri())
    title = tab.js("document.title")
    whole = "0 5 10 15 20 25 30 35 40; 0 50 100 150 200 250 300 350 400"
    assert title.split(" | ") == [
        *("0 0 720 216", whole, "10 15 20 25 30; 200 250 300 350 400", "10.0 30.0 200.0 400.0"),
        *("true", "true", "20: throughput 300", "0 0 720 216", whole, "true"),
    ]


IN_TIME = """<!DOCTYPE html><title>none</title>
<iframe src="run.svg" style="width:1000px;height:900px"></iframe>
<script>
const frame = document.querySelector("iframe");
frame.addEventListener("load", () => {
  const svg = frame.contentDocument.documentElement;
  const view = svg.getAttribute("viewBox");
  const found = [];
  const panel = svg.querySelector('[id^="axes_"]');
  const ends = () => JSON.parse(panel.dataset.shown)[0].map((one) => one.toFixed(1)).join("-");
  const key = (name) => frame.contentDocument.dispatchEvent(
    new KeyboardEvent("keydown", { key: name, bubbles: true }));
  const point = (kind, x, y) => svg.dispatchEvent(
    new PointerEvent(kind, { bubbles: true, button: 0, clientX: x, clientY: y }));
  const area = svg.querySelector("clipPath rect").getBBox();
  const matrix = svg.getScreenCTM();
  const at = (share) => matrix.a * (area.x + share * area.width) + matrix.e;
  const drag = (first, last) => {
    point("pointerdown", at(first), 200);
    point("pointermove", at(last), 204);
    point("pointerup", at(last), 204);
  };
  const places = () => [...svg.querySelectorAll("path[clip-path]")]
    .filter((path) => !path.closest('[id*="tick_"]')).map((path) => path.getBBox());
  const before = places();
  drag(0.2, 0.6);
  found.push(ends());
  const after = places();
  const close = (one, other) => Math.abs(one - other) < 0.1;
  const alike = (one, other, names) => names.every((name) => close(one[name], other[name]));
  found.push(before.every((box, n) => alike(box, after[n], ["y", "height"])));
  found.push(before.filter((box, n) => !close(box.x, after[n].x)).length > before.length / 2);
  const panels = [...svg.querySelectorAll('[id^="axes_"]')];
  const ticks = panels.map((panel) => [...panel.querySelectorAll(".zoomed text")]
    .map((text) => text.textContent).join(" "));
  found.push(new Set(ticks).size === 1 ? ticks[0] : ticks);
  key("ArrowRight"); found.push(ends());
  key("+"); found.push(ends());
  key("-"); found.push(ends());
  point("pointerdown", at(0.1), 200);
  point("pointermove", at(0.3), 200);
  frame.contentDocument.dispatchEvent(new PointerEvent("pointercancel", { bubbles: true }));
  found.push(svg.querySelectorAll(".zoom").length);
  frame.contentDocument.dispatchEvent(new PointerEvent("pointerup", { bubbles: true }));
  point("pointermove", at((12.4 - 5.5) / 10), 200);
  found.push(svg.querySelectorAll(".now").length);
  found.push([...svg.querySelectorAll(".read")].map((one) =>
    [...one.children].map((row) => row.textContent).join(", ")).join("; "));
  key("Escape"); found.push(ends());
  found.push(places().every((box, n) => alike(box, before[n], ["x", "width"])));
  found.push(svg.querySelectorAll(".zoomed").length);
  found.push(svg.getAttribute("viewBox") === view);
  document.title = found.join(" | ");
});
</script>
"""


READ = (
    "12 to 13 s: sent 500, errors 500, finished 0; "
    "12 to 13 s: R1 14, R2 7, R3 0, client-1 15, server-1 1, mqperf 0, whole machine 40"
)
"""The CPU per node in one second, from table ``cpu``; no message was finished in it."""


@pytest.mark.needs_browser
def test_in_a_drawing_of_a_run_only_time_is_zoomed(root: Path, tmp_path: Path, tab: Tab) -> None:
    """A box zooms the time axis of every panel; heights stay, and Escape resets the view."""
    run = mqperf.read(root / "data/samples/faults").run("r1-4ffa99dd")
    write_svg(run.plot(), tmp_path / "run.svg", title="A run", description="What it shows.")
    (tmp_path / "page.html").write_text(IN_TIME)
    tab.show((tmp_path / "page.html").as_uri(), 1100, 1000)
    title = tab.js("document.title")
    assert title.split(" | ") == [
        *("3.0-13.0", "true", "true", "3 4 5 6 7 8 9 10 11 12 13"),
        *("5.5-15.5", "8.0-13.0", "5.5-15.5"),
        *("0", "1", READ, "-2.0-23.0", "true", "0", "true"),
    ]
