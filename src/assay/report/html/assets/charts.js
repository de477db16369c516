"use strict";
// Charts are drawn here from their specifications, in the colours of the page, without evaluating any text as code.
const darkMode = matchMedia("(prefers-color-scheme: dark)");
const drawn = new Map();
const tip = document.createElement("div");
tip.className = "tip";
tip.setAttribute("role", "tooltip");
tip.hidden = true;
document.body.append(tip);

// A specification, part by part; what is data is left as it is.
function mapped(value, change) {
  if (Array.isArray(value)) return value.map((one) => mapped(one, change));
  if (value === null || typeof value !== "object") return value;
  const copy = {};
  for (const [key, inner] of Object.entries(value)) copy[key] = key === "datasets" || key === "values" ? inner : mapped(inner, change);
  return change(copy);
}

// Ink and paper exchanged. Only what is a colour is looked at: a model may be called "white".
const COLOUR = /color$|^(fill|stroke|background|range|value)$/i;
function coloured(spec, dark) {
  if (!dark) return spec;
  const other = (text) => (typeof text === "string" && Object.hasOwn(page.dark, text) ? page.dark[text] : text);
  return mapped(spec, (part) => {
    for (const [key, value] of Object.entries(part)) if (COLOUR.test(key)) part[key] = Array.isArray(value) ? value.map(other) : other(value);
    return part;
  });
}

// Words in lines of at most so many letters.
function wrapped(text, letters) {
  const lines = [""];
  for (const word of [text].flat().join(" ").split(" ").flatMap((word) => word.match(new RegExp(`.{1,${letters}}`, "gsu")) ?? [])) {
    const longer = lines.at(-1) + (lines.at(-1) && " ") + word;
    if (longer.length <= letters) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines.length > 8 ? [...lines.slice(0, 8), "…"] : lines;
}

// What a phone has no room for: notes beside the plot, names that only fit on a wide screen, numbers in narrow cells.
const CELL = 34;
function tooWide(layer, width) {
  if (layer.encoding?.x?.value > 0 || layer.name?.startsWith("wide")) return true;
  return layer.mark?.type === "text" && layer.encoding?.x?.field === "column" && width / layer.encoding.x.sort.length < CELL;
}
// Long names lose their middle: their beginnings are often alike, and so are their ends.
const SHORT = "length(datum.label) > 20 ? slice(datum.label, 0, 9) + '…' + slice(datum.label, -10) : datum.label";

// For a narrow screen: panels narrower and below each other, titles in more lines, the key below, nothing beside.
function narrowed(spec, excess, room) {
  const letters = Math.max(20, Math.floor(room / 6.4));
  return mapped(spec, (part) => {
    if (typeof part.width === "number") part.width = Math.max(150, part.width - excess);
    if (part.concat) part.columns = 1;
    if (part.layer) part.layer = part.layer.filter((one) => !tooWide(one, part.width));
    if (part.title?.text) {
      part.title.frame = "bounds"; // from the left edge, not from where the plot begins
      part.title.text = wrapped(part.title.text, letters - 6);
      if (part.title.subtitle) part.title.subtitle = wrapped(part.title.subtitle, letters);
    }
    if (part.labelLimit > 120 && !part.orient) Object.assign(part, { labelLimit: 130, labelExpr: SHORT });
    if (part.labelOverlap === false && part.labelAngle === 0) part.labelOverlap = "parity";
    if (part.legend && !part.legend.gradientLength) Object.assign(part.legend, { orient: "bottom", direction: "vertical", columns: 1, labelLimit: room - 60 });
    return part;
  });
}

// What is said under a title, in lines as wide as the chart: one long line would push everything else together.
const LETTER = 6.2;
function told(spec, width) {
  if (!spec.title?.subtitle) return spec;
  return { ...spec, title: { ...spec.title, subtitle: wrapped(spec.title.subtitle, Math.floor(width / LETTER)) } };
}

// For a wide screen: plots as wide as the column, unless several stand beside each other.
const [WIDEST, PLAIN] = [1000, 500];
function widened(spec, width, room) {
  if (spec.concat || spec.hconcat || spec.facet) return null;
  const more = Math.min(room, WIDEST) - width;
  if (more < 40) return null;
  return mapped(spec, (part) => {
    if (typeof part.width === "number") part.width += more;
    if (part.x?.value > 100) part.x.value += more; // what is written beside the plot
    return part;
  });
}

function number(value) {
  if (typeof value !== "number") return String(value);
  return Number.isInteger(value) ? value.toLocaleString("en") : String(Number(value.toPrecision(5)));
}

const NAMES = new Set(["label", "group"]); // of what a mark stands for: said without saying that it is a name

// A name, a value, its interval, and whatever else a mark stands for.
function words(datum) {
  const { low, high, ...rest } = datum;
  const lines = Object.entries(rest)
    .filter(([key, value]) => value !== null && value !== "" && typeof value !== "object" && !/^(Symbol|_|vg|zero$)|_sort_index$/.test(key))
    .map(([key, value]) => (NAMES.has(key) ? String(value) : `${key}: ${number(value)}`));
  if (low !== undefined && high !== undefined && low !== null && high !== null) lines.push(`interval: ${number(low)} to ${number(high)}`);
  return lines.join("\n");
}

function show(handler, event, item, value) {
  if (value === null || value === undefined || value === "") { tip.hidden = true; return; }
  tip.textContent = typeof value === "object" ? words(value) : String(value);
  tip.hidden = false;
  const width = Math.min(tip.offsetWidth, innerWidth - 16);
  tip.style.left = Math.max(8, Math.min(event.clientX + 14, innerWidth - width - 8)) + "px";
  tip.style.top = Math.max(8, Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 8)) + "px";
}

const DARK = {
  title: { color: "#f2f2f2", subtitleColor: "#bbbbbb" }, axis: { labelColor: "#dddddd", titleColor: "#dddddd" },
  legend: { labelColor: "#dddddd", titleColor: "#dddddd" }, header: { labelColor: "#dddddd", titleColor: "#dddddd" },
  text: { color: "#dddddd" },
};

async function embed(place, spec, dark) {
  const config = { background: dark ? "transparent" : "white", mark: { tooltip: { content: "data" } }, ...(dark ? DARK : {}) };
  const options = { ast: true, renderer: "svg", actions: false, defaultStyle: false, tooltip: show, mode: "vega-lite", config };
  drawn.get(place.id)?.finalize();
  drawn.set(place.id, await vegaEmbed(place, coloured(spec, dark), options));
  return place.querySelector("svg").viewBox.baseVal.width;
}

async function draw(name, dark) {
  const place = document.getElementById(name);
  try {
    const room = place.clientWidth || document.querySelector("main").clientWidth; // 0 while it is folded
    let [width, excess] = [await embed(place, told(page.charts[name], PLAIN), dark), 0];
    const wide = widened(page.charts[name], width, room);
    const beside = page.charts[name].width ? width - page.charts[name].width : 80; // names and notes: titles begin at the plot
    if (wide) width = await embed(place, told(wide, Math.min(room, WIDEST) - beside), dark);
    for (let tries = 0; tries < 3 && room && width > room; tries++) {
      width = await embed(place, narrowed(page.charts[name], excess, room), dark);
      excess += Math.max(0, width - room);
    }
    place.dataset.drawn = dark ? "dark" : "light";
  } catch (error) {
    place.textContent = "This chart could not be drawn: " + error.message;
    place.classList.add("failed");
    console.error(error);
  }
}

// One drawing after the other: a scheme that changes while charts are drawn must win.
let drawing = ready;
function drawAll(dark) {
  delete document.documentElement.dataset.charts;
  drawing = drawing.then(async () => {
    for (const name of Object.keys(page.charts)) await draw(name, dark);
    document.documentElement.dataset.charts = "drawn";
  });
}

// A chart is saved as it is printed: dark on white, whatever the page looks like.
async function saveChart(button) {
  const { chart, format } = button.dataset;
  const box = document.createElement("div");
  const view = (await vegaEmbed(box, page.charts[chart], { ast: true, renderer: "svg", actions: false, defaultStyle: false, mode: "vega-lite" })).view;
  if (format === "svg") save(chart + ".svg", "image/svg+xml", await view.toSVG());
  else (await view.toCanvas(2)).toBlob((blob) => save(chart + ".png", "image/png", blob));
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-chart]");
  if (button) saveChart(button);
});
for (const place of document.querySelectorAll(".chart")) {
  const buttons = document.createElement("span");
  buttons.className = "save";
  for (const format of ["svg", "png"]) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = format.toUpperCase();
    Object.assign(button.dataset, { chart: place.id, format });
    buttons.append(button);
  }
  place.nextElementSibling.append(buttons);
}
// A phone that is turned.
let [width, later] = [innerWidth, 0];
addEventListener("resize", () => {
  if (innerWidth === width) return;
  width = innerWidth;
  clearTimeout(later);
  later = setTimeout(() => drawAll(darkMode.matches), 200);
});
darkMode.addEventListener("change", () => drawAll(darkMode.matches));
addEventListener("beforeprint", () => { if (darkMode.matches) drawAll(false); });
addEventListener("afterprint", () => { if (darkMode.matches) drawAll(true); });
drawAll(darkMode.matches);
