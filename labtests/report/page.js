// Draws what is asked for: plots, counters, settings, commands. Values become text nodes only.
const block = document.getElementById("lt-data");
const data = JSON.parse(block.textContent);
const { suites, texts, lines } = data;
const svgns = "http://www.w3.org/2000/svg";
const root = document.documentElement;
const $ = (id) => document.getElementById(id);

function el(name, attributes = {}, ...inside) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...inside);
  return made;
}
function draw(name, attributes = {}, ...inside) {
  const made = document.createElementNS(svgns, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...inside);
  return made;
}
const figure = (value) => value === null || value === undefined ? "" : Math.abs(value) >= 1e5 || Number.isInteger(value)
  ? Math.round(value).toLocaleString("en").replaceAll(",", "\u202f").replace("-", "\u2212")
  : Number(value.toPrecision(4)).toString().replace("-", "\u2212");
function short(value) {
  for (const [size, letter] of [[1e9, " G"], [1e6, " M"], [1e4, " k"]])
    if (Math.abs(value) >= size) return Number((value / (letter === " k" ? 1e3 : size)).toPrecision(3)) + letter;
  return Number(value.toPrecision(3)).toString();
}
function say(text) {
  $("lt-said").textContent = text;
  setTimeout(() => { $("lt-said").textContent = ""; }, 2500);
}
function table(all, rows) {
  // the rows of a phase stand below its name
  const phased = all[0] === "phase" ? 1 : 0, heads = all.slice(phased);
  let phase = null;
  const head = el("tr", {}, ...heads.map((h) => el("th", h.startsWith("#") ? { scope: "col", class: "lt-n" } : { scope: "col" }, h.replace("#", ""))));
  const body = el("tbody");
  for (const row of rows) {
    if (phased && row.cells[0] !== phase) body.append(el("tr", {}, el("th", { scope: "rowgroup", colspan: heads.length, class: "lt-phase" }, phase = row.cells[0])));
    const cells = row.cells.slice(phased).map((cell, n) => el("td", heads[n].startsWith("#") ? { class: "lt-n" } : {}, cell));
    body.append(el("tr", row.id ? { id: row.id, tabindex: "-1" } : {}, ...cells));
  }
  return el("div", { class: "lt-wide" }, el("table", {}, el("thead", {}, head), body));
}
function fold(title, make) {
  const details = el("details", {}, el("summary", {}, title));
  details.addEventListener("toggle", () => { if (details.open && details.children.length === 1) details.append(make()); });
  return details;
}

// -- plots: lanes under one another, one axis, one cursor ----------------------------------------
// A phone's plot is not a small copy of a wide one: its text would be too small to read.
const W = innerWidth < 600 ? 400 : 860, LEFT = W < 600 ? 46 : 56, RIGHT = 8, BOTTOM = 8;
function span(suite) {
  let high = 0.001;
  for (const [, , start, end] of suite.phases) high = Math.max(high, start ?? 0, end ?? 0);
  for (const lane of suite.lanes) for (const line of lane.l) for (const [, until] of line.p) high = Math.max(high, until);
  return high;
}
// Where a moment is drawn, from 0 to 1. Between two phases next to no time is drawn: it may be a minute.
function axis(suite) {
  const high = span(suite), ends = suite.phases.filter((p) => p[2] !== null && p[3] !== null).map((p) => [p[2], p[3]]).sort((a, b) => a[0] - b[0]);
  const most = ends.reduce((sum, [start, end]) => sum + end - start, 0) / 8 || high, pieces = [];
  let now = 0, drawn = 0;
  const add = (until, cut) => {
    if (until <= now) return;
    const size = cut && until - now > 3 * most ? most : until - now;
    pieces.push({ from: now, until, at: drawn, size, cut: size < until - now });
    now = until; drawn += size;
  };
  for (const [start, end] of ends) { add(start, true); add(end, false); }
  add(high, true);
  const piece = (test) => pieces.find(test) ?? pieces.at(-1);
  const at = (time) => { const t = Math.max(0, time), p = piece((one) => t <= one.until); return (p.at + p.size * (t - p.from) / (p.until - p.from)) / drawn; };
  const back = (x) => { const p = piece((one) => x * drawn <= one.at + one.size); return p.from + (p.until - p.from) * (x * drawn - p.at) / p.size; };
  return { high, drawn, pieces, at, back };
}
function curve(line, x, y) {
  let way = "", pen = false;
  for (const [from, until, value] of line.p) {
    if (value === null) { pen = false; continue; }
    way += `${pen ? "L" : "M"}${x(from).toFixed(1)} ${y(value).toFixed(1)}H${x(until).toFixed(1)}`;
    pen = true;
  }
  return way;
}
// What is of one priority has one colour; another port of it another width, what is of none another dash.
const ink = (line) => line.c === null || line.c > 7;
function hue(line, n, lines) {
  const again = lines.slice(0, n).filter((one) => (ink(one) && ink(line)) || one.c === line.c).length;
  return ink(line) ? `lt-ink lt-ink${again % 5}` : `lt-q${line.c}${again ? ` lt-again${again % 3}` : ""}`;
}
function ticks(high, count) {
  const rough = high / count, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((s) => s * power >= rough) * power;
  return Array.from({ length: Math.floor(high / step + 1e-9) + 1 }, (_, n) => n * step);
}
function lane(suite, told, time, last, address) {
  const first = suite.lanes.find((each) => each.l.length) === told, TOP = first ? 22 : 8, H = 96 + TOP;
  const ceiling = Math.max(...told.l.flatMap((line) => line.p.map((p) => p[2] ?? 0)), 0) * 1.08 || 1;
  const x = (t) => LEFT + (W - LEFT - RIGHT) * time.at(t);
  const y = (v) => H - BOTTOM - (H - TOP - BOTTOM) * v / ceiling;
  const svg = draw("svg", { viewBox: `0 0 ${W} ${H + (last ? 26 : 0)}`, role: "img", "aria-label": `${told.t} in ${told.u}` });
  for (const [name, kind, start, end, lost] of suite.phases) {
    if (start === null || end === null) continue;
    const width = Math.max(x(end) - x(start), 1);
    svg.append(draw("rect", { class: `lt-band-${texts[kind] === "control" ? "control" : "experiment"}`, x: x(start), y: TOP, width, height: H - TOP - BOTTOM }));
    if (first && width > 40) {
      const most = Math.floor(width / 6.6), whole = texts[name];
      const label = draw("text", { x: x(start), y: TOP - 7 }, whole.length > most ? `${whole.slice(0, most - 1)}\u2026` : whole);
      label.append(draw("title", {}, `${texts[name]} (${texts[kind]})`));
      svg.append(label);
    }
    if (told.t === "Dropped packets" && lost) {
      const late = x(start) > W * .8;
      svg.append(draw("text", { class: "lt-lost", x: late ? x(end) - 3 : x(start) + 3, y: H - BOTTOM - 4, ...late && { "text-anchor": "end" } }, `\u2715 ${figure(lost)} lost`));
    }
  }
  for (const tick of ticks(ceiling, 3)) {
    svg.append(draw("path", { class: "lt-grid", d: `M${LEFT} ${y(tick)}H${W - RIGHT}` }), draw("text", { x: LEFT - 6, y: y(tick) + 4, "text-anchor": "end" }, short(tick)));
  }
  const curves = told.l.map((line, n) => draw("path", { class: `lt-curve ${hue(line, n, told.l)}`, d: curve(line, x, y) }));
  svg.append(...curves);
  if (last) {
    const steps = ticks(time.drawn, W < 600 ? 4 : 8), step = steps[1] ?? time.drawn;
    for (const { from, until, cut } of time.pieces) {
      if (!cut) for (let n = Math.ceil(from / step); n * step < until; n += 1) svg.append(draw("text", { x: x(n * step), y: H + 12, "text-anchor": "middle" }, short(n * step)));
      else if (x(until) - x(from) > 56) svg.append(draw("text", { class: "lt-cut", x: (x(from) + x(until)) / 2, y: H + 12, "text-anchor": "middle" }, `${short(until - from)} s cut`));
    }
    svg.append(draw("text", { x: W - RIGHT, y: H + 24, "text-anchor": "end" }, W < 600 ? "s since the first phase; \u25b2 commands sent" : "seconds since the first phase began; \u25b2 commands sent"));
    for (const t of suite.sent) if (t >= 0 && t <= time.high) svg.append(draw("path", { class: "lt-sent", d: `M${x(t)} ${H - 7}l4 7h-8z` }));
  }
  const cursor = draw("path", { class: "lt-cursor", d: "" });
  svg.append(cursor);
  const list = el("ul");
  const values = told.l.slice(0, 12).map((line, n) => {
    const value = el("b");
    const item = el("li", {}, draw("svg", { viewBox: "0 0 22 8", "aria-hidden": "true" }, draw("path", { class: `lt-curve ${hue(line, n, told.l)}`, d: "M0 4H22" })), texts[line.n], value);
    item.addEventListener("pointerenter", () => curves.forEach((one, k) => one.classList.toggle("lt-faint", k !== n)));
    item.addEventListener("pointerleave", () => curves.forEach((one) => one.classList.remove("lt-faint")));
    list.append(item);
    return value;
  });
  const head = el("div", {}, el("b", {}, told.t), " ", el("span", { class: "lt-soft" }, told.u, " "), csv(address, told.t.toLowerCase().replaceAll(" ", "-"), () => series([told])));
  const more = [told.l.length > 12 ? `${told.l.length - 12} more lines` : "", told.s ? `${told.s} stayed at 0` : "", told.m.length ? `${told.m.length} without a value` : ""].filter(Boolean).join(", ");
  const key = el("div", { class: "lt-key" }, head, list, el("span", { class: "lt-soft" }, more));
  const at = (t) => {
    cursor.setAttribute("d", t === null ? "" : `M${x(t)} ${TOP}V${H - BOTTOM}`);
    told.l.slice(0, 12).forEach((line, n) => {
      const known = line.p.map((p) => p[2]).filter((v) => v !== null);
      const here = t === null ? undefined : line.p.find(([a, b]) => a <= t && t <= b);
      values[n].textContent = t === null ? (known.length ? `max ${short(Math.max(...known))}` : "no value") : here ? (here[2] === null ? "no value" : figure(here[2])) : "\u2013";
    });
  };
  at(null);
  return { node: el("div", { class: "lt-lane" }, svg, key), svg, at };
}
function plots(suite, place, address) {
  if (!suite.lanes.length) { place.append(el("p", { class: "lt-soft" }, "No samples were taken.")); return; }
  const drawn = suite.lanes.filter((told) => told.l.length), time = axis(suite);
  const box = el("div", { class: "lt-plots", tabindex: "0", role: "group", "aria-label": "plots; left and right move the cursor" });
  const all = drawn.map((told, n) => lane(suite, told, time, n === drawn.length - 1, address));
  let now = null;
  const move = (t) => { now = t; for (const one of all) one.at(t); };
  for (const one of all) {
    one.svg.addEventListener("pointermove", (event) => {
      const frame = one.svg.getBoundingClientRect();
      const part = ((event.clientX - frame.left) / frame.width * W - LEFT) / (W - LEFT - RIGHT);
      move(part < 0 || part > 1 ? null : time.back(part));
    });
    one.svg.addEventListener("pointerleave", () => move(null));
    box.append(one.node);
  }
  box.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    event.preventDefault();
    move(time.back(Math.min(1, Math.max(0, time.at(now ?? 0) + (event.key === "ArrowLeft" ? -1 : 1) / 60))));
  });
  const still = suite.lanes.filter((told) => !told.l.length).map((told) => told.t);
  place.append(box, el("p", { class: "lt-soft" }, still.length ? `No movement: ${still.join(", ")}. ` : "", el("span", { class: "lt-onscreen" }, "All plots: ", csv(address, "series", () => series(suite.lanes)))));
}
function* series(lanes) {
  yield ["plot", "unit", "line", "from_s", "until_s", "value"];
  for (const told of lanes) for (const line of told.l) for (const [a, b, v] of line.p) yield [told.t, told.u, texts[line.n], a, b, v ?? ""];
}
function csv(address, name, rows) {
  const button = el("button", { type: "button" }, "CSV");
  button.addEventListener("click", () => {
    const cell = (value) => { const text = String(value); return /^[=+@\t\r-]/.test(text) && isNaN(text) ? `"'${text.replaceAll('"', '""')}"` : /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text; };
    const content = [...rows()].map((row) => row.map(cell).join(",")).join("\n") + "\n";
    const link = el("a", { href: URL.createObjectURL(new Blob([content], { type: "text/csv" })), download: `${address}-${name}.csv` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
  return button;
}

function unrolled(spans, from) {
  const found = [];
  for (let n = 0; n < spans.length; n += 2) found.push(...from.slice(spans[n], spans[n] + spans[n + 1]));
  return found;
}

// -- tables -----------------------------------------------------------------------------------------
const port = (name) => {
  const found = /^[A-Za-z][A-Za-z-]*(\d+(?:\/\d+)+)$/.exec(name);
  return found ? el("span", { title: name }, found[1]) : name || "whole host";
};
function sinceLast(now, was) {
  if (was === null) return "\u2013";
  if (was === now) return "=";
  if (!was || !now) return el("b", { title: `${figure(was)} then` }, was ? `now 0, was ${figure(was)}` : "was 0");
  const share = (now - was) / was, size = Math.abs(share) * 100;
  const text = `${share > 0 ? "+" : "\u2212"}${size < 0.1 ? "< 0.1" : size < 10 ? size.toFixed(1) : figure(Math.round(size))} %`;
  return el(size > 5 ? "b" : "span", { title: `${figure(was)} then` }, text);
}
const named = (scope, index) => index === null ? "" : `${texts[scope]} ${index}`;
function counters(suite, place, address) {
  const compared = (cell) => suite.compared ? [cell] : [];
  const rows = suite.changed.map((r, n) => ({ id: `${address}/counters/${n}`, cells: [texts[suite.phases[r[0]][0]], texts[r[1]], port(texts[r[2]]), named(r[3], r[6]), texts[r[4]], figure(r[7]), figure(r[8]), "+" + figure(r[9]), ...compared(sinceLast(r[9], r[11])), texts[r[5]], texts[r[10]]] }));
  const heads = ["phase", "device", "port", "at", "counter", "#before", "#after", "#difference", ...compared("#since last"), "unit", "own name"];
  const plain = function* () {
    yield ["phase", "device", "port", "scope", "index", "counter", "before", "after", "difference", ...compared("difference in the last run"), "unit", "the device's own name"];
    for (const r of suite.changed) yield [texts[suite.phases[r[0]][0]], texts[r[1]], texts[r[2]], texts[r[3]], r[6] ?? "", texts[r[4]], r[7] ?? "", r[8] ?? "", r[9], ...compared(r[11] ?? ""), texts[r[5]], texts[r[10]]];
  };
  place.append(rows.length ? table(heads, rows) : el("p", {}, "No counter changed."), csv(address, "counters", plain));
  const still = suite.still.reduce((sum, r) => sum + r[0], 0);
  if (still) place.append(fold(`${figure(still)} that were read and stood still`, () => table(["phase", "device", "port", "counter", "value", "unit"], suite.still.flatMap(([, spans], n) => unrolled(spans, data.still).map((r) => ({ cells: [texts[suite.phases[n][0]], texts[r[0]], port(texts[r[1]]), texts[r[2]], texts[r[4]], texts[r[3]]] }))))));
  const none = suite.unusable.reduce((sum, r) => sum + r[2].length, 0);
  if (none) place.append(fold(`${figure(none)} without a value, by reason`, () => table(["phase", "why", "#how many", "which"], suite.unusable.map((r) => ({ cells: [texts[suite.phases[r[0]][0]], texts[r[1]], String(r[2].length), r[2].map((n) => texts[n]).join("; ")] })))));
}
function settings(suite, place) {
  const rows = suite.settings.map((r) => ({ cells: [texts[suite.phases[r[0]][0]], texts[r[1]], port(texts[r[2]]), texts[r[3]], el("pre", {}, texts[r[4]])] }));
  place.append(rows.length ? table(["phase", "device", "port", "setting", "value"], rows) : el("p", {}, "None were read."));
}
function commands(suite, place, address) {
  if (!suite.commands.length) { place.append(el("p", { class: "lt-soft" }, "The journal names none for this test.")); return; }
  suite.commands.forEach(([kind, time, device, command, status, problem, count, first, last], n) => {
    const bad = texts[problem] || (status !== null && status !== 0);
    const head = el("span", {}, `${time.toFixed(3)} s  `, el("b", {}, texts[device]), "  ", el("code", {}, texts[command]), count > 1 ? `  \u00d7${count}` : "", bad ? el("b", { class: "lt-word lt-fail" }, `  ${texts[problem] || "status " + status}`) : "", texts[kind] === "configure" ? "  (changes the lab)" : "");
    const one = fold("", () => {
      if (first === null) return el("p", { class: "lt-soft" }, "not in this page: labtests journal has it");
      const said = unrolled(first, lines), box = el("div", {}, el("pre", {}, said.join("\n") || "(nothing)"));
      if (last) {
        const before = new Set(said), other = unrolled(last, lines).filter((line) => !before.has(line));
        box.append(el("p", { class: "lt-soft" }, `Given ${count} times; ${other.length ? "what the last answer has that the first has not:" : "the last answer has no other line."}`), el("pre", {}, other.join("\n")));
      }
      return box;
    });
    one.firstChild.append(head);
    one.id = `${address}/commands/${n}`;
    place.append(one);
  });
}

// -- what is opened is made --------------------------------------------------------------------------
const makers = { plots, counters, settings, commands };
function make(place) {
  if (place.dataset.made) return;
  place.dataset.made = "1";
  const address = place.closest(".lt-suite").id;
  place.querySelector(".lt-noscript")?.remove();
  if (suites[address]) makers[place.dataset.make](suites[address], place, address);
}
document.addEventListener("toggle", ({ target }) => {
  if (!(target instanceof HTMLDetailsElement) || !target.open) return;
  if (target.dataset.make) make(target);
  if (target.classList.contains("lt-suite")) for (const one of target.querySelectorAll("section[data-make]")) make(one);
}, true);

function show(address) {
  if (!address) return;
  const [suite, part] = address.split("/");
  const top = $(suite);
  if (top?.classList.contains("lt-suite")) {
    top.open = true;
    for (const one of top.querySelectorAll("[data-make]")) if (one.id === `${suite}/${part}` || one.tagName === "SECTION") make(one);
  }
  const target = $(address) ?? top;
  if (!target) return;
  for (let up = target; up; up = up.parentElement) if (up instanceof HTMLDetailsElement) up.open = true;
  document.querySelector(".lt-found")?.classList.remove("lt-found");
  if (target.tagName === "TR") target.classList.add("lt-found");
  requestAnimationFrame(() => { target.scrollIntoView({ block: target.tagName === "TR" ? "center" : "start" }); (target.querySelector("summary") ?? target).focus({ preventScroll: true }); });
}
const wanted = () => { try { return decodeURIComponent(location.hash.slice(1)); } catch { return ""; } };
document.addEventListener("click", (event) => {
  const link = event.target.closest?.('a[href^="#"]');
  if (link) {
    event.preventDefault();
    history.replaceState(null, "", link.getAttribute("href"));
    show(wanted());
    return;
  }
  const button = event.target.closest?.(".lt-copy");
  if (!button) return;
  event.preventDefault();
  const text = button.previousElementSibling.textContent;
  const done = () => say("copied");
  if (navigator.clipboard && isSecureContext) navigator.clipboard.writeText(text).then(done, () => byHand(text, done));
  else byHand(text, done);
});
function byHand(text, done) {
  const box = el("textarea", {}, text);
  document.body.append(box);
  box.select();
  if (document.execCommand("copy")) done(); else say("select and copy it by hand");
  box.remove();
}
addEventListener("hashchange", () => show(wanted()));

// -- search, keys, colours, print ---------------------------------------------------------------------
function hits(words) {
  const found = [], take = (text, address) => { const low = text.toLowerCase(), tokens = low.split(/[\s,;:]+/); if (found.length < 60 && words.every((word) => /^\d+$/.test(word) ? tokens.includes(word) : low.includes(word))) found.push([text, address]); };
  for (const top of document.querySelectorAll(".lt-suite")) {
    take(top.querySelector("summary").textContent.replace(/\s+/g, " ").trim().slice(0, 160), top.id);
    const suite = suites[top.id];
    suite?.changed.forEach((r, n) => take([top.id, texts[r[1]], texts[r[2]], named(r[3], r[6]), texts[r[4]], "+" + figure(r[9]), texts[r[10]], `(${texts[suite.phases[r[0]][0]]})`].filter(Boolean).join(" "), `${top.id}/counters/${n}`));
    suite?.commands.forEach((c, n) => take(`${top.id} ${texts[c[2]]} ${texts[c[3]].slice(0, 120)}`, `${top.id}/commands/${n}`));
  }
  return found;
}
$("lt-search").addEventListener("input", () => {
  const words = $("lt-search").value.toLowerCase().split(/\s+/).filter(Boolean), found = words.length ? hits(words) : [];
  $("lt-hits").hidden = !words.length;
  $("lt-hits").replaceChildren(el("p", { class: "lt-soft" }, found.length ? `${found.length}${found.length === 60 ? " and more" : ""} found` : "nothing found"), ...found.map(([text, address]) => el("a", { href: `#${address}` }, text)));
});
$("lt-search").addEventListener("keydown", (event) => {
  if (event.key === "Escape") { event.target.value = ""; $("lt-hits").hidden = true; event.target.blur(); }
  if (event.key === "Enter") $("lt-hits").querySelector("a")?.click();
});
const colours = ["", "light", "dark"];
function recolour() {
  const next = colours[(colours.indexOf(root.dataset.colours ?? "") + 1) % 3];
  if (next) root.dataset.colours = next; else delete root.dataset.colours;
  say(`colours: ${next || "system"}`);
}
$("lt-colours").addEventListener("click", recolour);
$("lt-keys").addEventListener("click", () => $("lt-help").showModal());
const lists = () => [...document.querySelectorAll(".lt-suite > summary")];
function step(by, red) {
  const all = lists().filter((line) => !red || line.parentElement.matches(".lt-row-fail, .lt-row-error, .lt-row-inconclusive"));
  const at = all.indexOf(document.activeElement);
  const next = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : (at + by + all.length) % all.length];
  next?.focus();
  next?.scrollIntoView({ block: "center" });
}
const keys = {
  j: () => step(1), k: () => step(-1), r: () => step(1, true), t: recolour, "?": () => $("lt-help").showModal(),
  "/": () => $("lt-search").focus(),
  e: () => { const all = [...document.querySelectorAll(".lt-suite")], open = !all.every((one) => one.open); for (const one of all) one.open = open; },
};
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest?.("input, textarea, dialog")) return;
  if (Object.hasOwn(keys, event.key)) { event.preventDefault(); keys[event.key](); }
});
addEventListener("beforeprint", () => {
  for (const link of document.querySelectorAll(".lt-card h3 a")) { // the first red suite of each place
    const one = $(link.hash.slice(1));
    one.open = true;
    for (const section of one.querySelectorAll("section[data-make]")) make(section);
  }
});
for (const one of document.querySelectorAll(".lt-copy, .lt-tools")) one.hidden = false;
root.style.setProperty("--print-line", JSON.stringify(`${document.title}, ${document.querySelector(".lt-top .lt-soft")?.lastChild?.textContent?.trim() ?? ""}`));
for (const wide of document.querySelectorAll(".lt-picture .lt-wide")) {
  const mark = wide.querySelector(".lt-ring, .lt-culprit")?.getBoundingClientRect(), seen = wide.getBoundingClientRect();
  if (mark && mark.right > seen.right) wide.scrollLeft += mark.right - seen.right + 120; // the culprit is in sight on a phone
}
if (location.search) history.replaceState(null, "", location.pathname + location.hash);
show(wanted());
