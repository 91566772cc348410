"use strict";

// Filters and sort order are kept in the URL, so that a link shows others the same cells.

const box = document.getElementById("box"), body = box.querySelector("tbody");
const rows = [...body.rows], headings = [...box.querySelectorAll("th[data-name]")];
const form = document.forms[0], filters = [...form.elements];

const asked = () => new URLSearchParams(location.hash.slice(1));

function ask(name, value) {
  const params = asked();
  if (value) params.set(name, value); else params.delete(name);
  location.hash = params;
}

// The value to sort by: a number, null for a rate that does not count, or the text of a cell.
function key(row, column) {
  const {dataset: {value}, textContent} = row.cells[column];
  if (value === undefined) return textContent.trim();
  return value === "" ? null : Number(value);
}

// Rates that do not count come last in either direction.
function compare(one, other, down) {
  if (one === null || other === null) return (one === null) - (other === null);
  const order = typeof one === "number" ? one - other : one.localeCompare(other);
  return down ? -order : order;
}

function show() {
  const params = asked(), sort = params.get("sort") ?? "", down = sort.startsWith("-");
  for (const filter of filters) {
    filter.value = params.get(filter.name) ?? "";
    if (filter.selectedIndex < 0) filter.value = "";
  }
  for (const row of rows)
    row.hidden = filters.some(({name, value}) => value && row.dataset[name] !== value);
  const column = headings.findIndex(({dataset}) => dataset.name === sort.replace("-", ""));
  const order = (one, other) => compare(key(one, column), key(other, column), down);
  body.append(...(column < 0 ? rows : [...rows].sort(order)));
  headings.forEach((heading, place) => {
    heading.removeAttribute("aria-sort");
    if (place === column) heading.setAttribute("aria-sort", down ? "descending" : "ascending");
  });
  const shown = rows.filter(row => !row.hidden).length;
  document.getElementById("shown").textContent = `${shown} of ${rows.length} cells`;
}

for (const filter of filters) filter.addEventListener("change", () => ask(filter.name, filter.value));
for (const heading of headings) {
  const button = document.createElement("button");
  button.type = "button";
  button.title = "Sort by this column";
  button.append(...heading.childNodes);
  heading.append(button);
  const {name} = heading.dataset;
  const [first, then] = name === "rate" ? ["-rate", "rate"] : [name, `-${name}`];
  button.addEventListener("click", () => ask("sort", asked().get("sort") === first ? then : first));
}
for (const link of document.querySelectorAll(".grid a")) link.addEventListener("click", () => box.focus());
addEventListener("hashchange", show);
form.hidden = false;
show();
