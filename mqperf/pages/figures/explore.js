"use strict";

// A drawing that is shown by itself, or in a frame: a box that is dragged is told as the event "zoom",
// a double click or Escape as one without a box, for panels.js; and an entry of a legend hides its
// lines, or shows them.

(() => {
  const svg = document.querySelector("svg");
  for (const side of ["width", "height"]) svg.setAttribute(side, "100%");

  function place(event) {
    const point = new DOMPoint(event.clientX, event.clientY);
    return point.matrixTransform(svg.getScreenCTM().inverse());
  }

  function between(one, other) {
    const [x, y] = [Math.min(one.x, other.x), Math.min(one.y, other.y)];
    return { x, y, width: Math.abs(one.x - other.x), height: Math.abs(one.y - other.y) };
  }

  let start = null;
  const box = document.createElementNS(svg.namespaceURI, "rect");
  box.setAttribute("class", "zoom");

  function drawn(event) {
    const area = between(start, place(event));
    if (svg.dataset.time) Object.assign(area, { y: 0, height: svg.viewBox.baseVal.height });
    for (const [name, value] of Object.entries(area)) box.setAttribute(name, value);
    return area;
  }

  svg.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || event.target.closest("[role=button]")) return;
    start = place(event);
    drawn(event);
    svg.append(box);
    event.preventDefault();
  });
  document.addEventListener("pointermove", (event) => start && drawn(event));
  document.addEventListener("pointerup", (event) => {
    if (start === null) return;
    const begun = [start.x, start.y];
    const { x, y, width, height } = drawn(event);
    stop();
    if (Math.max(width, svg.dataset.time ? 0 : height) > 5) zoom({ x, y, width, height, begun });
  });
  document.addEventListener("pointercancel", stop);

  function stop() {
    start = null;
    box.remove();
  }

  const zoom = (area) => svg.dispatchEvent(new CustomEvent("zoom", { detail: area }));
  const showAll = () => zoom(null);
  svg.addEventListener("dblclick", showAll);
  document.addEventListener("keydown", (event) => event.key === "Escape" && showAll());

  const series = [...svg.querySelectorAll("[data-series]")].map((group) => {
    return { group, names: JSON.parse(group.dataset.series) };
  });
  const hidden = new Set();

  function toggle(entry, name) {
    if (!hidden.delete(name)) hidden.add(name);
    entry.setAttribute("aria-pressed", String(!hidden.has(name)));
    for (const { group, names } of series) {
      group.style.display = names.some((one) => hidden.has(one)) ? "none" : "";
    }
  }

  for (const entry of svg.querySelectorAll('[id^="legend_"] text')) {
    const name = entry.textContent;
    if (!series.some(({ names }) => names.includes(name))) continue;
    entry.setAttribute("role", "button");
    entry.setAttribute("aria-pressed", "true");
    entry.setAttribute("tabindex", "0");
    entry.addEventListener("click", () => toggle(entry, name));
    entry.addEventListener("keydown", (event) => event.key === "Enter" && toggle(entry, name));
  }
})();
