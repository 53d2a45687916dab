"use strict";
// This script searches and sorts the board, and shows its first rows only. Without it all rows are shown.
const FIRST = 50;
const table = document.getElementById("board");
const body = table.tBodies[0];
const rows = [...body.rows];
const search = document.getElementById("search");
const all = document.getElementById("all");
const shown = document.getElementById("shown");
let everything = rows.length <= FIRST;

function refresh() {
  const wanted = search.value.trim().toLowerCase();
  let matching = 0;
  [...body.rows].forEach((row, number) => {
    const matches = row.cells[1].textContent.toLowerCase().includes(wanted);
    matching += matches;
    row.hidden = !matches || (!wanted && !everything && number >= FIRST);
  });
  all.hidden = everything || wanted !== "";
  shown.textContent = wanted ? `${matching} of ${rows.length} teams` : "";
}

function goToAnchor() {
  const row = document.getElementById(location.hash.slice(1));
  if (row && body.contains(row)) {
    search.value = "";
    everything = everything || row.hidden;
    refresh();
    row.scrollIntoView({block: "center"});
  }
}

function valueOf(row, column) {
  const cell = row.cells[column];
  const text = cell.dataset.value ?? cell.textContent;
  const number = Number(text.replace(/[,%=]/g, ""));
  return text.trim() === "–" || text === "" ? null : Number.isNaN(number) ? text.toLowerCase() : number;
}

function sortBy(header) {
  const column = header.cellIndex;
  const down = header.getAttribute("aria-sort") === "ascending";
  const values = new Map(rows.map(row => [row, valueOf(row, column)]));
  const sorted = [...rows].sort((a, b) => {
    const [x, y] = [values.get(a), values.get(b)];
    if (x === null || y === null) return (x === null) - (y === null);
    if (typeof x !== typeof y) return typeof x === "number" ? -1 : 1;
    return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1);
  });
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", down ? "descending" : "ascending");
  table.classList.toggle("by-rank", column === 0 && !down);
  body.append(...sorted);
  refresh();
}

for (const header of table.tHead.rows[0].cells) {
  if (header.classList.contains("plain")) continue;
  // Chromium does not print a <button> again at the top of the next sheet, so this is a <span>.
  const button = document.createElement("span");
  button.setAttribute("role", "button");
  button.tabIndex = 0;
  button.append(...header.childNodes);
  header.append(button);
  button.addEventListener("click", () => sortBy(header));
  button.addEventListener("keydown", event => {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      sortBy(header);
    }
  });
}
search.addEventListener("input", refresh);
search.addEventListener("change", refresh);
all.addEventListener("click", () => {
  everything = true;
  refresh();
});
// A row of the board and a mark of the plot show each other.
const marks = new Map([...document.querySelectorAll("a.mark")].map(mark => [mark.getAttribute("href").slice(1), mark]));
function tell(anchor) {
  for (const other of document.querySelectorAll(".told")) other.classList.remove("told");
  const mark = marks.get(anchor);
  mark?.classList.add("told");
  document.getElementById(anchor)?.classList.add("told");
  const told = document.getElementById("told");
  if (told) told.textContent = mark ? mark.querySelector("title").textContent : "";
}
for (const [anchor, mark] of marks) for (const event of ["mouseenter", "focus", "click"]) mark.addEventListener(event, () => tell(anchor));
for (const row of rows) row.addEventListener("mouseenter", () => tell(row.id));
addEventListener("hashchange", goToAnchor);
document.querySelector(".tools").hidden = false;
refresh();
goToAnchor();
