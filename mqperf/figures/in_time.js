
// Of a drawing whose panels share a time axis: a box that is dragged becomes all of that axis in every
// panel, with heights as they were; arrows move along it, + and - zoom, and a line shows the same
// instant in all panels.

(() => {
  const svg = document.querySelector("svg");
  const [begin, end] = JSON.parse(svg.dataset.time);
  const panel = svg.querySelector("clipPath rect");
  const [left, width] = [panel.x.baseVal.value, panel.width.baseVal.value];
  let [from, to] = [begin, end];

  const marks = [...svg.querySelectorAll("path[clip-path], [clip-path] use")].map((mark) => {
    const name = mark.localName === "use" ? "x" : "d";
    return { mark, name, drawn: mark.getAttribute(name) };
  });
  const axes = [...svg.querySelectorAll('[id^="matplotlib.axis_"]')]
    .map((axis) => [...axis.querySelectorAll(':scope > [id^="xtick_"]')])
    .filter((ticks) => ticks.length > 0)
    .map((ticks) => ({ ticks, axis: ticks[0].parentNode }));

  const atFirst = (x) => begin + ((x - left) / width) * (end - begin);
  const at = (x) => from + ((x - left) / width) * (to - from);
  const across = (seconds) => left + ((seconds - from) / (to - from)) * width;
  const moved = (x) => across(atFirst(Number(x))).toFixed(2);

  // every path of the drawing is made of pairs of absolute coordinates
  function move({ mark, name, drawn }) {
    const pairs = (path) => path.replace(/(-?[\d.]+) (-?[\d.]+)/g, (_, x, y) => `${moved(x)} ${y}`);
    mark.setAttribute(name, name === "x" ? moved(drawn) : pairs(drawn));
  }

  function step() {
    const least = (to - from) / 12;
    const power = 10 ** Math.floor(Math.log10(least));
    return [1, 2, 5, 10].map((one) => one * power).find((one) => one >= least);
  }

  function markTicks({ axis, ticks }) {
    for (const old of axis.querySelectorAll(":scope > .zoomed")) old.remove();
    const whole = from === begin && to === end;
    for (const tick of ticks) tick.style.display = whole ? "" : "none";
    const every = step();
    for (let n = Math.ceil(from / every); !whole && n * every <= to; n++) {
      const tick = ticks[0].cloneNode(true);
      tick.removeAttribute("id");
      tick.setAttribute("class", "zoomed");
      tick.style.display = "";
      for (const mark of tick.querySelectorAll("use, text")) {
        mark.setAttribute("x", across(n * every));
        mark.removeAttribute("transform");
      }
      const text = tick.querySelector("text");
      if (text) text.textContent = String(Number((n * every).toFixed(6))).replace("-", "\u2212");
      axis.append(tick);
    }
  }

  function show(first, last) {
    const length = Math.min(Math.max(last - first, 0.01), end - begin);
    from = Math.min(Math.max(first, begin), end - length);
    to = length === end - begin ? end : from + length;
    marks.forEach(move);
    axes.forEach(markTicks);
    svg.dataset.shown = JSON.stringify([from, to]);
  }

  svg.addEventListener("zoom", (event) => {
    event.preventDefault();
    const area = event.detail;
    if (area === null) show(begin, end);
    else show(at(area.x), at(area.x + area.width));
  });

  const keys = { ArrowLeft: [-0.25, -0.25], ArrowRight: [0.25, 0.25], "+": [0.25, -0.25], "-": [-0.5, 0.5] };
  document.addEventListener("keydown", (event) => {
    if (!(event.key in keys) || event.ctrlKey || event.metaKey || event.altKey) return;
    const [first, last] = keys[event.key].map((share) => share * (to - from));
    show(from + first, to + last);
    event.preventDefault();
  });

  const now = document.createElementNS(svg.namespaceURI, "path");
  now.setAttribute("class", "now");
  svg.addEventListener("pointermove", (event) => {
    const point = new DOMPoint(event.clientX, event.clientY);
    const { x } = point.matrixTransform(svg.getScreenCTM().inverse());
    now.setAttribute("d", `M ${x} 0 V ${svg.viewBox.baseVal.height}`);
    if (x >= left && x <= left + width) svg.append(now);
    else now.remove();
  });
  svg.addEventListener("pointerleave", () => now.remove());
})();
