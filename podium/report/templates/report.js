// This script filters and sorts the items.
"use strict";
(() => {
  const form = document.getElementById("filters");
  const list = document.getElementById("list");
  const places = JSON.parse(list.dataset.places);
  function read(element) {
    const rows = [...element.querySelectorAll(".rows tbody tr")];
    const segments = [...element.querySelectorAll("[data-n]")];
    return {
      element,
      id: element.dataset.id,
      points: Number(element.dataset.points),
      groups: [...element.querySelectorAll(".chip")].map((chip) => chip.textContent),
      rows: rows.map((row) => {
        const values = { partner: row.dataset.p };
        for (const name in places) values[name] = row.cells[places[name]].textContent.trim();
        return values;
      }),
      // Each part is an element, with the numbers of the rows that it shows.
      parts: [
        ...rows.map((row, number) => [row, [number]]),
        ...segments.map((segment) => [segment, segment.dataset.n.split(" ")]),
        ...[...element.querySelectorAll(".texts p > span")].map((words) => [words, []]),
      ],
    };
  }
  let known; // the items are read when they are first needed, so that the page loads fast
  const items = () => (known ??= [...list.children].map(read));

  const text = new Intl.Collator(undefined, { numeric: true });
  const orders = {
    points: (a, b) => b.points - a.points,
    rows: (a, b) => b.matching - a.matching,
    group: (a, b) => text.compare(a.groups.join(), b.groups.join()),
    id: (a, b) => text.compare(a.id, b.id),
  };

  function update() {
    const { label, outcome, cause, partner, group, sort, search } = Object.fromEntries(new FormData(form));
    const filtered = Boolean(label || outcome || cause || partner);
    let shown = 0;
    for (const item of items()) {
      const matches = item.rows.map(
        (row) =>
          (!label || row.label === label) &&
          (!outcome || row.outcome.split(", ").includes(outcome)) &&
          (!cause || row.cause === cause) &&
          (!partner || (row.partner && item.rows[row.partner].label === partner)),
      );
      item.matching = matches.filter(Boolean).length;
      const visible =
        (!filtered || item.matching > 0) &&
        (!group || item.groups.includes(group)) &&
        item.id.toLowerCase().includes(search.trim().toLowerCase());
      item.element.hidden = !visible;
      shown += visible;
      for (const [part, numbers] of item.parts) {
        part.classList.toggle("dim", filtered && !numbers.some((number) => matches[number]));
      }
    }
    list.append(...[...items()].sort(orders[sort]).map((item) => item.element));
    document.getElementById("count").textContent = `${shown.toLocaleString("en")} shown`;
    document.getElementById("none").hidden = shown > 0;
  }

  document.addEventListener("click", (event) => {
    const link = event.target.closest("[data-set]");
    if (link) {
      form.reset();
      for (const [name, value] of Object.entries(JSON.parse(link.dataset.set))) {
        if (form.elements[name]) form.elements[name].value = value;
      }
      update();
    }
  });
  function open() {
    const item = document.getElementById(location.hash.slice(1));
    if (item?.matches("details")) {
      item.hidden = false;
      item.open = true;
      item.firstElementChild.focus();
    }
  }
  window.addEventListener("hashchange", open);
  open();

  form.addEventListener("input", update);
  form.addEventListener("change", update);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(update));
})();
