"use strict";
// Copying, sorting and saving. Everything that is shown is in the page already; nothing is asked of any server.
const page = { charts: {}, dark: {}, files: {} };

// Charts and files are compressed, which needs a moment; what is shown first needs none of them.
async function unpacked() {
  const bytes = Uint8Array.from(atob(document.getElementById("data").textContent), (letter) => letter.charCodeAt(0));
  const text = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  Object.assign(page, JSON.parse(await new Response(text).text()));
}

function save(name, type, content) {
  const link = document.createElement("a");
  const blob = content instanceof Blob ? content : new Blob([content], { type });
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// What the page carries for a download, as text: a script that reads numbers would round some of them.
function carried(name) {
  return page.files[name];
}

function cells(row) {
  return Array.from(row.cells, (cell) => cell.textContent);
}

function records(table) {
  const [header, ...rows] = Array.from(table.rows, cells);
  return rows.map((row) => Object.fromEntries(row.map((text, i) => [header[i] || `column ${i + 1}`, text])));
}

// A cell that a spreadsheet would run as a formula gets an apostrophe in front; numbers do not.
function field(value) {
  let text = value === null || value === undefined ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
  if (/^[=+@\t\r-]/.test(text) && Number.isNaN(Number(text))) text = "'" + text;
  return /[",\n\r]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
}

function csv(rows) {
  const names = [...new Set(rows.flatMap(Object.keys))];
  return [names, ...rows.map((row) => names.map((name) => row[name]))].map((row) => row.map(field).join(",")).join("\r\n") + "\r\n";
}

// Cells by their numbers, or as words; what has no number in a column of numbers stays below, whichever way.
function compare(a, b, direction) {
  const [x, y] = [a.dataset.value, b.dataset.value];
  if (x !== undefined && y !== undefined) return direction * (Number(x) - Number(y));
  if (x !== undefined || y !== undefined) return x !== undefined ? -1 : 1;
  return direction * a.textContent.localeCompare(b.textContent, undefined, { numeric: true });
}

function sort(button) {
  const head = button.closest("th");
  const body = head.closest("table").tBodies[0];
  const down = head.getAttribute("aria-sort") === "ascending";
  for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  const rows = Array.from(body.rows);
  rows.sort((a, b) => compare(a.cells[head.cellIndex], b.cells[head.cellIndex], down ? -1 : 1));
  body.append(...rows);
}

async function copy(button) {
  const code = button.parentElement.querySelector("code");
  const range = document.createRange();
  range.selectNodeContents(code);
  getSelection().removeAllRanges();
  getSelection().addRange(range);
  let done = false;
  try {
    await navigator.clipboard.writeText(code.textContent);
    done = true;
  } catch {
    done = document.execCommand("copy");
  }
  button.textContent = done ? "Copied" : "Selected";
}

function saveTable(button) {
  const table = document.getElementById(button.dataset.table);
  const exact = carried(table.id) ?? JSON.stringify(records(table), null, 2);
  if (button.dataset.format === "csv") save(button.dataset.file + ".csv", "text/csv", csv(JSON.parse(exact)));
  else save(button.dataset.file + ".json", "application/json", exact + "\n");
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  if ("sort" in button.dataset) sort(button);
  else if ("copy" in button.dataset) copy(button);
  else if ("table" in button.dataset) saveTable(button);
  else if ("save" in button.dataset) save(button.dataset.save + ".json", "application/json", carried(button.dataset.save) + "\n");
});

// A link leads to what it names, unfolded.
function reveal() {
  const place = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!place) return;
  for (let one = place; one; one = one.parentElement) if (one.tagName === "DETAILS") one.open = true;
  place.scrollIntoView();
}
addEventListener("hashchange", reveal);
reveal();

// On paper everything is unfolded.
const folded = () => document.querySelectorAll("details:not([open])");
addEventListener("beforeprint", () => folded().forEach((one) => { one.open = true; one.dataset.folded = ""; }));
addEventListener("afterprint", () => document.querySelectorAll("details[data-folded]").forEach((one) => { one.open = false; delete one.dataset.folded; }));

// Without charts the page is what a script that looks at it waits for; with charts it is when they are drawn.
const ready = unpacked().then(() => {
  for (const button of document.querySelectorAll("[data-save]")) {
    if (carried(button.dataset.save) === undefined) button.parentElement.remove();
  }
  if (Object.keys(page.charts).length === 0) document.documentElement.dataset.charts = "drawn";
});
