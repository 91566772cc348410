"use strict";

// Thousands separators, tables sorted by a click on a heading, boxes in which wide drawings and
// tables scroll, drawings to explore, and notebooks that open.  Everything can be read without this
// file.

const NUMBER = /^-?\d+(\.\d+)?$/;

function ownText(cell) {
  return (cell.querySelector("p") ?? cell).firstChild?.textContent.trim() ?? "";
}

function separate(text) {
  const [whole, fraction] = text.split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, "\u202f");
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

function readNumbers(table) {
  for (const cell of table.tBodies[0].querySelectorAll("td")) {
    const text = ownText(cell);
    if (!NUMBER.test(text)) continue;
    cell.dataset.value = text;
    (cell.querySelector("p") ?? cell).firstChild.textContent = separate(text);
  }
}

function compare(one, other) {
  const [a, b] = [one.dataset.value, other.dataset.value];
  if (a !== undefined && b !== undefined) return Number(a) - Number(b);
  if (a === undefined && b === undefined) return ownText(one).localeCompare(ownText(other));
  return null;
}

function sort(table, heading, column) {
  const ascending = heading.getAttribute("aria-sort") !== "ascending";
  const rows = [...table.tBodies[0].rows];
  rows.sort((one, other) => {
    const cells = [one.cells[column], other.cells[column]];
    // a missing number comes last, whichever way it is sorted
    const order = compare(...cells) ?? (cells[0].dataset.value === undefined ? Infinity : -Infinity);
    return ascending || !Number.isFinite(order) ? order : -order;
  });
  for (const each of heading.parentElement.cells) each.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", ascending ? "ascending" : "descending");
  table.tBodies[0].append(...rows);
}

function makeSortable(table) {
  const headings = table.tHead?.rows[0]?.cells ?? [];
  [...headings].forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = heading.textContent.trim();
    button.title = "Sort by this column";
    button.addEventListener("click", () => sort(table, heading, column));
    heading.replaceChildren(button);
  });
}

function boxed(image) {
  const box = document.createElement("div");
  box.className = "scrolls";
  image.replaceWith(box);
  box.append(image);
  return box;
}

// What is wider than its box says so, as long as there is more to the right.
function tellWidth(box, what) {
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", `${what}, scrolls sideways`);
  const note = document.createElement("p");
  note.className = "goes-on";
  note.textContent = "scroll right \u2192";
  box.before(note);
  const look = () => {
    const hidden = box.scrollWidth - box.clientWidth;
    note.hidden = hidden <= 1;
    box.tabIndex = note.hidden ? -1 : 0;
    note.classList.toggle("at-its-end", box.scrollLeft >= hidden - 1);
  };
  box.addEventListener("scroll", look, { passive: true });
  new ResizeObserver(look).observe(box);
}

for (const table of document.querySelectorAll("table.numbers")) {
  readNumbers(table);
  makeSortable(table);
}
// Executed notebooks and runs in time are files to Sphinx, and pages to a reader.
for (const link of document.querySelectorAll('a.download:is([href$=".html"], [href$=".svg"])')) {
  link.removeAttribute("download");
}
// A drawing that is pointed at, or reached by the keyboard, becomes one to explore; paper keeps it.
function explorable(box) {
  const explore = () => {
    if (box.querySelector("iframe")) return;
    const [image] = box.getElementsByTagName("img");
    const frame = document.createElement("iframe");
    frame.src = image.src;
    frame.title = image.alt;
    const hint = document.createElement("p");
    hint.className = "hint";
    hint.textContent = "drag to zoom, double-click for all, click a legend to hide its lines";
    const drawing = document.createElement("div");
    drawing.className = "drawing";
    image.replaceWith(drawing);
    drawing.append(image, frame, hint);
  };
  box.addEventListener("pointerenter", explore);
  box.addEventListener("focus", explore);
}

for (const image of document.querySelectorAll("article img:not(.topology)")) {
  const box = boxed(image);
  tellWidth(box, "Drawing");
  explorable(box);
}
for (const box of document.querySelectorAll(".table-wrapper")) tellWidth(box, "Table");
