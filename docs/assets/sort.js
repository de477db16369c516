// Tables of ten rows and more are sorted by a click on a heading: by number where a column has numbers, else by text.
// A second click turns the order around, a third gives the order of the page back. Without scripts they stand as written.
const numberOf = (text) => {
  const found = text.replace(/−/g, "-").replace(/,(?=\d{3})/g, "").match(/^[^\d-]{0,2}(-?\d+(?:\.\d+)?)/);
  return found ? Number(found[1]) : null;
};

const compared = (a, b, direction) => {
  if (a.value === null || b.value === null) return Number(a.value === null) - Number(b.value === null);
  const order = typeof a.value === "number" ? a.value - b.value : a.value.localeCompare(b.value);
  return direction * order || a.place - b.place;
};

const valuesOf = (rows, column) => {
  const texts = rows.map((row) => row.cells[column].textContent.trim());
  const numbers = texts.map(numberOf);
  const numeric = numbers.filter((number) => number !== null).length * 2 > rows.length;
  return numeric ? numbers : texts;
};

for (const table of document.querySelectorAll(".md-content table")) {
  const body = table.tBodies[0];
  const rows = body ? [...body.rows] : [];
  if (rows.length < 10 || !table.tHead) continue;
  [...table.tHead.rows[0].cells].forEach((cell, column, cells) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort-button";
    button.append(...cell.childNodes);
    cell.append(button);
    button.addEventListener("click", () => {
      const next = { ascending: "descending", descending: null }[cell.ariaSort] ?? (cell.ariaSort ? null : "ascending");
      cells.forEach((other) => { other.ariaSort = null; });
      cell.ariaSort = next;
      const values = valuesOf(rows, column);
      const placed = rows.map((row, place) => ({ row, place, value: values[place] }));
      if (next) placed.sort((a, b) => compared(a, b, next === "ascending" ? 1 : -1));
      body.append(...placed.map(({ row }) => row));
    });
  });
}
