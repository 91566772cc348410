
// The panels of a drawing, by data-panels: what a box shows becomes all of its panel, with ticks anew;
// text and lines stay as large as they are.  Where data-time says that all panels have the same time,
// it is zoomed in all of them, and heights stay; arrows move along it, + and - zoom.  A line at the
// pointer reads the values of the lines below it.

(() => {
  const svg = document.querySelector("svg");
  const inTime = svg.dataset.time !== undefined;
  const make = (name) => document.createElementNS(svg.namespaceURI, name);
  const ratio = (place, begin, length) => (Number(place) - begin) / length;

  // from and to are shares of the length at first
  function makeAxis(group, name, begin, length, [first, last, scale, numbers]) {
    const scaled = scale === "log" ? Math.log10 : Number;
    const [low, high] = [scaled(first), scaled(last)];
    const axis = { begin, length, scale, numbers, from: 0, to: 1 };
    axis.share = (place) => axis.from + ratio(place, begin, length) * (axis.to - axis.from);
    axis.moved = (place) => begin + ((ratio(place, begin, length) - axis.from) / (axis.to - axis.from)) * length;
    axis.value = (share) => {
      const at = low + share * (high - low);
      return scale === "log" ? 10 ** at : at;
    };
    axis.place = (value) => begin + ((scaled(value) - low) / (high - low)) * length;
    axis.inside = (place) => (place - begin) / length > -1e-3 && (place - begin) / length < 1.001;
    axis.ends = () => [axis.value(axis.from), axis.value(axis.to)];
    axis.ticks = [...group.querySelectorAll(`:scope > [id^="matplotlib.axis_"] > [id^="${name}tick_"]`)]
      .map((tick) => ({ tick, at: placeOf(tick, name) }));
    axis.along = (distance) => (name === "x" ? `translate(${distance} 0)` : `translate(0 ${distance})`);
    return axis;
  }

  function placeOf(tick, name) {
    const [line, mark, text] = ["path[clip-path]", "use", "text"].map((one) => tick.querySelector(one));
    if (line) return Number(line.getAttribute("d").match(/-?[\d.]+/g)[name === "x" ? 0 : 1]);
    if (mark) return Number(mark.getAttribute(name));
    const area = (text ?? tick).getBBox();
    return name === "x" ? area.x + area.width / 2 : area.y + area.height / 2;
  }

  function makePanel({ id, box: [left, top, width, height], x, y }) {
    const group = document.getElementById(id);
    const panel = { group, left, top, width, height };
    panel.x = makeAxis(group, "x", left, width, x);
    panel.y = makeAxis(group, "y", top + height, -height, y);
    const ofTicks = (one) => one.closest('[id^="matplotlib.axis_"]');
    panel.marks = [...group.querySelectorAll("path[clip-path], [clip-path] use")]
      .filter((mark) => !ofTicks(mark))
      .map((mark) => ({ mark, drawn: mark.getAttribute("d"), x: mark.getAttribute("x"), y: mark.getAttribute("y") }));
    panel.notes = [...group.querySelectorAll(":scope > g > text")].map((text) => {
      const area = text.parentNode.getBBox();
      return { note: text.parentNode, x: area.x + area.width / 2, y: area.y + area.height / 2 };
    }).filter((note) => panel.x.inside(note.x) && panel.y.inside(note.y));
    panel.lines = [...group.querySelectorAll("[data-series]")].map(lineOf).filter((line) => line);
    return panel;
  }

  // its corners as they were drawn
  function lineOf(group) {
    const corners = [...group.querySelectorAll('path[clip-path][style*="fill: none"]')]
      .flatMap((path) => [...path.getAttribute("d").matchAll(/(-?[\d.]+) (-?[\d.]+)/g)])
      .map(([, x, y]) => [Number(x), Number(y)]);
    const steps = corners.slice(1).map(([x], n) => x - corners[n][0]).filter((step) => step > 0.01);
    if (steps.length === 0) return null;
    return { group, corners, near: Math.min(...steps) * 0.6, name: JSON.parse(group.dataset.series)[0] ?? "" };
  }

  const panels = JSON.parse(svg.dataset.panels).map(makePanel);

  // every path of the drawing is made of pairs of absolute coordinates
  function redraw(panel) {
    const whole = (axis) => axis.from === 0 && axis.to === 1;
    const [x, y] = [panel.x, panel.y]
      .map((axis) => (place) => (whole(axis) ? place : axis.moved(place).toFixed(2)));
    for (const { mark, drawn, ...at } of panel.marks) {
      if (drawn) mark.setAttribute("d", drawn.replace(/(-?[\d.]+) (-?[\d.]+)/g, (_, a, b) => `${x(a)} ${y(b)}`));
      else for (const [name, to] of [["x", x], ["y", y]]) mark.setAttribute(name, to(at[name]));
    }
    for (const { note, ...at } of panel.notes) {
      const to = [panel.x.moved(at.x), panel.y.moved(at.y)];
      note.setAttribute("transform", `translate(${to[0] - at.x} ${to[1] - at.y})`);
      note.style.display = panel.x.inside(to[0]) && panel.y.inside(to[1]) ? "" : "none";
    }
    markTicks(panel.x, 55);
    markTicks(panel.y, 25);
    panel.group.dataset.shown = JSON.stringify([panel.x.ends(), panel.y.ends()]);
  }

  function markTicks(axis, apart) {
    if (axis.ticks.length === 0) return;
    const home = axis.ticks[0].tick.parentNode;
    for (const old of home.querySelectorAll(":scope > .zoomed")) old.remove();
    const anew = axis.numbers && (axis.from > 0 || axis.to < 1);
    for (const { tick, at } of axis.ticks) {
      const to = axis.moved(at);
      tick.setAttribute("transform", axis.along(to - at));
      tick.style.display = !anew && axis.inside(to) ? "" : "none";
    }
    for (const value of anew ? round(axis, Math.abs(axis.length) / apart) : []) {
      const tick = axis.ticks[0].tick.cloneNode(true);
      for (const one of [tick, ...tick.querySelectorAll("[id]")]) one.removeAttribute("id");
      tick.setAttribute("class", "zoomed");
      tick.setAttribute("transform", axis.along(axis.moved(axis.place(value)) - axis.ticks[0].at));
      tick.style.display = "";
      const text = tick.querySelector("text");
      if (text) text.textContent = plain(value);
      home.append(tick);
    }
  }

  // so many round values between the ends of an axis, or somewhat fewer
  function round(axis, most) {
    const [low, high] = axis.ends().sort((one, other) => one - other);
    if (axis.scale === "log" && high > 10 * low) {
      const decades = Math.log10(high / low);
      const steps = decades * 3 <= most ? [1, 2, 5] : [1];
      const powers = Array.from({ length: Math.ceil(decades) + 2 }, (_, n) => 10 ** (Math.floor(Math.log10(low)) + n));
      return powers.flatMap((power) => steps.map((step) => step * power)).filter((value) => value >= low && value <= high);
    }
    const least = (high - low) / Math.max(most, 2);
    const power = 10 ** Math.floor(Math.log10(least));
    const every = [1, 2, 5, 10].map((step) => step * power).find((step) => step >= least * 0.999);
    const first = Math.ceil(low / every - 1e-9);
    return Array.from({ length: Math.floor(high / every + 1e-9) - first + 1 }, (_, n) => (first + n) * every);
  }

  function plain(value) {
    const text = Number(value.toPrecision(6)).toLocaleString("en", { maximumFractionDigits: 6 });
    return text.replaceAll(",", "\u202f").replace("-", "\u2212");
  }

  function zoom(axis, from, to) {
    const length = Math.min(Math.max(to - from, 1e-4), 1);
    axis.from = Math.min(Math.max(from, 0), 1 - length);
    axis.to = axis.from + length;
  }

  function at(x, y) {
    return panels.findLast((one) => one.x.inside(x) && one.y.inside(y));
  }

  svg.addEventListener("zoom", ({ detail }) => {
    hush();
    const chosen = detail === null || inTime ? panels : [at(...detail.begun)].filter((one) => one);
    for (const panel of chosen) {
      if (detail === null) for (const axis of [panel.x, panel.y]) zoom(axis, 0, 1);
      else {
        const { x, y, width, height } = detail;
        const ends = [panel.x.share(x), panel.x.share(x + width), panel.y.share(y + height), panel.y.share(y)];
        if (width > 5) zoom(panel.x, ends[0], ends[1]);
        if (height > 5 && !inTime) zoom(panel.y, ends[2], ends[3]);
      }
      redraw(panel);
    }
  });

  const keys = { ArrowLeft: [-0.25, -0.25], ArrowRight: [0.25, 0.25], "+": [0.25, -0.25], "-": [-0.5, 0.5] };
  document.addEventListener("keydown", (event) => {
    if (!inTime || !(event.key in keys) || event.ctrlKey || event.metaKey || event.altKey) return;
    for (const panel of panels) {
      const { from, to } = panel.x;
      const [first, last] = keys[event.key].map((share) => share * (to - from));
      zoom(panel.x, from + first, to + last);
      redraw(panel);
    }
    hush();
    event.preventDefault();
  });

  const now = make("path");
  now.setAttribute("class", "now");
  const hush = () => svg.querySelectorAll(".now, .read").forEach((one) => one.remove());

  svg.addEventListener("pointermove", (event) => {
    hush();
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    const panel = at(point.x, inTime ? panels[0].top : point.y);
    if (!panel || event.buttons) return;
    const read = inTime ? panels : [panel];
    const places = read.flatMap((one) => one.lines.flatMap((line) => line.corners.map(([x]) => x)));
    if (places.length === 0) return;
    const shown = panel.left + panel.x.share(point.x) * panel.width;
    const place = places.reduce((best, x) => (Math.abs(x - shown) < Math.abs(best - shown) ? x : best));
    const x = panel.x.moved(place);
    if (!panel.x.inside(x)) return;
    const [top, height] = inTime ? [0, svg.viewBox.baseVal.height] : [panel.top, panel.height];
    now.setAttribute("d", `M ${x} ${top} v ${height}`);
    svg.append(now);
    for (const one of read) tell(one, place, x);
  });
  svg.addEventListener("pointerleave", hush);

  function tell(panel, place, x) {
    const texts = panel.lines.filter((line) => line.group.style.display !== "none").flatMap(({ corners, near, name }) => {
      const [best] = corners.filter((one) => Math.abs(one[0] - place) < near)
        .sort((one, other) => Math.abs(one[0] - place) - Math.abs(other[0] - place));
      return best ? [`${name} ${readY(panel.y, best[1])}`.trim()] : [];
    });
    if (texts.length === 0) return;
    const value = panel.x.value(ratio(place, panel.left, panel.width));
    if (inTime) texts.unshift(`${plain(Math.floor(value))} to ${plain(Math.floor(value) + 1)} s:`);
    else {
      const tick = panel.x.ticks.find(({ at }) => Math.abs(at - place) < 0.3);
      const named = tick?.tick.textContent.trim() || (panel.x.numbers && plain(Number(value.toPrecision(3))));
      if (named) texts.unshift(`${named}:`);
    }
    const before = x > panel.left + panel.width / 2;
    const rows = [];
    const letters = Math.max(panel.width / 2 / 4.6, 16);
    for (const text of texts) {
      const row = rows.pop() ?? "";
      const both = `${row}${row.endsWith(":") ? "" : ","} ${text}`;
      rows.push(...(row === "" ? [text] : both.length > letters ? [row, text] : [both]));
    }
    const note = make("text");
    note.setAttribute("class", "read");
    note.setAttribute("text-anchor", before ? "end" : "start");
    rows.forEach((row, n) => {
      const line = make("tspan");
      line.setAttribute("x", before ? x - 4 : x + 4);
      line.setAttribute("y", panel.top + 9 + 10 * n);
      line.textContent = row;
      note.append(line);
    });
    svg.append(note);
  }

  // as many digits as a height in the drawing tells
  function readY(axis, place) {
    const value = axis.value(ratio(place, axis.begin, axis.length));
    if (axis.scale === "log") return plain(Number(value.toPrecision(3)));
    const least = Math.abs((axis.value(1) - axis.value(0)) / axis.length) * 0.01;
    const step = 10 ** Math.ceil(Math.log10(2 * least));
    return plain(Math.round(value / step) * step);
  }
})();
