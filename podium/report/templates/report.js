// Filters and sorts the items of the page; without it the page only lacks that.
"use strict";
(() => {
  const form = document.getElementById("filters");
  const list = document.getElementById("list");
  const items = [...list.children].map((element, place) => ({
    element,
    place,
    id: element.dataset.id,
    points: Number(element.dataset.points),
    groups: JSON.parse(element.dataset.groups),
    rows: [...element.querySelectorAll("tr[data-n]")],
    parts: [...element.querySelectorAll("[data-n]")],
    matching: 0,
  }));

  const text = new Intl.Collator(undefined, { numeric: true });
  const orders = {
    place: (a, b) => a.place - b.place,
    points: (a, b) => b.points - a.points || a.place - b.place,
    rows: (a, b) => b.matching - a.matching || a.place - b.place,
    group: (a, b) => text.compare(a.groups.join(), b.groups.join()) || a.place - b.place,
    id: (a, b) => text.compare(a.id, b.id),
  };

  const chosen = (name) => (form.elements[name] ? form.elements[name].value : "");

  function update() {
    const label = chosen("label");
    const outcome = chosen("outcome");
    const cause = chosen("cause");
    const partner = chosen("partner");
    const group = chosen("group");
    const search = chosen("search").trim().toLowerCase();
    const filtered = label || outcome || cause || partner;
    let shown = 0;
    for (const item of items) {
      const numbers = new Set();
      for (const row of item.rows) {
        if (
          (!label || row.dataset.label === label) &&
          (!outcome || row.dataset.outcome.split("|").includes(outcome)) &&
          (!cause || row.dataset.cause === cause) &&
          (!partner || row.dataset.partner === partner)
        ) {
          numbers.add(row.dataset.n);
        }
      }
      item.matching = numbers.size;
      const visible =
        (!filtered || numbers.size > 0) &&
        (!group || item.groups.includes(group)) &&
        item.id.toLowerCase().includes(search);
      item.element.hidden = !visible;
      shown += visible;
      for (const part of item.parts) {
        part.classList.toggle("dim", Boolean(filtered) && !numbers.has(part.dataset.n));
      }
    }
    items.sort(orders[chosen("sort")]);
    list.append(...items.map((item) => item.element));
    document.getElementById("count").textContent = `${shown.toLocaleString("en")} shown`;
    document.getElementById("none").hidden = shown > 0;
  }

  // A segment and its partner light up together.
  function light(event) {
    for (const element of list.querySelectorAll(".lit")) {
      element.classList.remove("lit");
    }
    const part = event.type === "mouseover" && event.target.closest("mark[data-n], tr[data-n]");
    if (part) {
      const numbers = [part.dataset.n, part.dataset.p];
      for (const element of part.closest(".item").querySelectorAll("[data-n]")) {
        element.classList.toggle("lit", numbers.includes(element.dataset.n));
      }
    }
  }

  // A cell or a line of the page leads to the rows that it counts.
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
  window.addEventListener("hashchange", () => {
    const item = document.getElementById(location.hash.slice(1));
    if (item && item.matches("details")) {
      item.hidden = false;
      item.open = true;
    }
  });

  form.addEventListener("input", update);
  form.addEventListener("change", update);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(update));
  list.addEventListener("mouseover", light);
  list.addEventListener("mouseleave", light);
})();
