"use strict";
// The list follows the folder: every two seconds it asks its own server what is there. Names come from files, so
// they become text and never markup.
const list = document.getElementById("results");
const said = document.getElementById("said");
const none = document.getElementById("none");
const rows = new Map(Array.from(list.children, (row) => [row.dataset.path, row]));
let tag = list.dataset.tag;

function element(name, text, attributes) {
  const made = document.createElement(name);
  made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

function rowOf(line) {
  const row = element("li", "", { class: line.status, "data-path": line.path, "data-version": line.version });
  const badge = element("span", line.symbol, { class: "badge", role: "img", "aria-label": line.word, title: line.word });
  const text = line.href ? element("a", line.text, { href: line.href }) : element("span", line.text, {});
  const about = element("span", line.about, { class: "kind" });
  if (line.save) about.append(" · ", element("a", "JSON", { href: line.save, download: "" }));
  row.append(badge, text, about);
  return row;
}

// Rows that did not change stay where they are: with the focus, and a selection in them.
function show(listing) {
  const there = new Set(listing.lines.map((line) => line.path));
  for (const [path, row] of rows) {
    if (there.has(path)) continue;
    row.remove();
    rows.delete(path);
  }
  listing.lines.forEach((line, place) => {
    const old = rows.get(line.path);
    const row = old && old.dataset.version === line.version ? old : rowOf(line);
    if (old && old !== row) old.replaceWith(row);
    if (list.children[place] !== row) list.insertBefore(row, list.children[place] ?? null);
    rows.set(line.path, row);
  });
  none.hidden = listing.lines.length > 0;
  said.textContent = listing.summary;
}

async function ask() {
  try {
    const answer = await fetch("/index.json", { cache: "no-store", headers: { "If-None-Match": tag } });
    if (answer.ok) {
      show(await answer.json());
      tag = answer.headers.get("ETag");
      delete said.dataset.lost;
    } else if (answer.status === 304 && "lost" in said.dataset) {
      said.textContent = said.dataset.lost;
      delete said.dataset.lost;
    }
  } catch {
    said.dataset.lost ??= said.textContent;
    said.textContent = "The server does not answer: it was stopped, or this machine slept. Trying again …";
  }
  setTimeout(ask, 2000);
}

setTimeout(ask, 2000);
