// Shows what /events tells. No other request is made, and nothing is sent back.
"use strict";

const KEPT_S = 900;
const COLUMNS = ["t", "lent", "granted", "busy", "demand"];
const LETTERS = { primary: "P", elastic: "E", other: "o", idle: "·" };
const NAMES = { primary: "the primary", elastic: "the elastic group", other: "others", idle: "nothing" };
const pasts = new Map(); // agent's name -> a list for each of COLUMNS
const latest = new Map();
const gone = []; // sentences about agents that are there no more, the last first
let chosen = null, held = false, plot = null, notes = [], heard = 0, drawnFor = null;

const at = (id) => document.getElementById(id);
const put = (node, text) => { if (node.textContent !== text) node.textContent = text; };
const clock = (seconds) => new Date(seconds * 1000).toLocaleTimeString([], { hour12: false });
const make = (tag, text, className) => {
  const node = document.createElement(tag);
  if (text !== undefined) node.textContent = text;
  if (className) node.className = className;
  return node;
};

function keep(name, past) {
  if (!past || !past.samples) return;
  const known = pasts.get(name) || COLUMNS.map(() => []);
  const times = known[0], fresh = past.samples.t;
  for (let i = 0; i < fresh.length; i++) {
    if (times.length && fresh[i] <= times[times.length - 1]) continue;
    COLUMNS.forEach((column, k) => known[k].push(past.samples[column][i]));
  }
  let old = 0;
  while (old < times.length && times[times.length - 1] - times[old] > KEPT_S) old++;
  if (old) known.forEach((column) => column.splice(0, old));
  pasts.set(name, known);
}

function take(message, whole) {
  const found = JSON.parse(message.data);
  heard = Date.now();
  if (whole) pasts.clear();
  const names = found.agents.map((agent) => agent.name);
  for (const [name, agent] of latest) if (!names.includes(name)) { latest.delete(name); pasts.delete(name); miss(agent); }
  for (const agent of found.agents) {
    keep(agent.name, agent.past);
    latest.set(agent.name, agent.silent ? { ...latest.get(agent.name), ...agent } : agent);
  }
  notes = found.notes;
  if (!latest.has(chosen)) chosen = names.length ? names[0] : null;
  if (!held && !document.hidden) draw();
}

function miss(agent) {
  gone.unshift(`Gone since ${clock(Date.now() / 1000)}: ${agent.title || agent.name}${agent.pid ? ` (pid ${agent.pid})` : ""}.`);
  gone.splice(5);
}

function draw() {
  const agent = latest.get(chosen);
  at("none").hidden = Boolean(agent);
  at("main").hidden = !agent;
  list(at("notes"), notes);
  list(at("gone"), gone);
  drawAgents();
  if (!agent) { document.title = "SmartHarvest"; return; }
  at("silent").hidden = !agent.silent;
  at("main").classList.toggle("stale", Boolean(agent.silent));
  at("main").classList.toggle("blank", !agent.verdicts);
  put(at("silent"), agent.silent ? `This agent does not answer: ${agent.silent}.${agent.verdicts ? " What follows is what it said last." : ""}` : "");
  put(at("title"), agent.title || agent.name);
  document.title = `${agent.title || agent.name} · SmartHarvest`;
  put(at("line"), agent.line || "");
  if (!agent.verdicts) return;
  const used = agent.budget_used, ill = agent.complaints.length;
  answer("earning", agent.verdicts.earning, String(agent.lent), `of ${agent.total} cores lent now, ${agent.mean.toFixed(2)} on average.`);
  answer("harming", agent.verdicts.harming, used === null ? "?" : `${(used * 100).toFixed(0)} %`, `${used === null ? "" : "of the budget. "}${agent.verdicts.harming.text}`);
  answer("health", agent.verdicts.health, ill ? `${ill} warning${ill > 1 ? "s" : ""}` : "Yes", agent.verdicts.health.text);
  answer("why", agent.verdicts.why, WORDS[agent.verdicts.why.key] || agent.verdicts.why.key, agent.verdicts.why.text);
  drawCpus(agent.cpus);
  drawChart(agent);
  drawGroups(agent.several);
  drawDecisions((agent.past && agent.past.decisions) || []);
  for (const part of ["waits", "groups", "promises", "agent"]) pairs(at(part), agent[part]);
  list(at("complaints"), agent.complaints);
}

const WORDS = {
  held: "Held", resting: "Resting", "no window": "Starting", limit: "Limit", "short-term": "Buffer ran out",
  stale: "Late loop", policy: "Policy", demand: "Demand", nothing: "All lent",
};

function answer(id, verdict, big, text) {
  const card = at(id);
  card.className = verdict.level;
  put(card.querySelector(".big"), big);
  put(card.querySelector(".text"), text);
}

function drawGroups(several) {
  at("several").hidden = !several.length;
  const body = at("several").querySelector("tbody");
  table(body, several.map((one) => one.cells));
  several.forEach((one, i) => body.rows[i].classList.toggle("short", one.short));
}

function drawAgents() {
  const nav = at("agents");
  nav.hidden = latest.size < 2;
  const wanted = [...latest.values()].map((agent) => `${agent.name}\n${agent.title || agent.name}`).join("\n\n");
  if (nav.dataset.shown !== wanted) {
    nav.dataset.shown = wanted;
    nav.replaceChildren(...[...latest.values()].map((agent) => {
      const button = make("button", `${agent.title || agent.name}${agent.pid ? ` (${agent.pid})` : ""}`);
      button.type = "button";
      button.dataset.name = agent.name;
      button.addEventListener("click", () => choose(agent.name));
      return button;
    }));
  }
  for (const button of nav.children) button.setAttribute("aria-current", String(button.dataset.name === chosen));
}

function choose(name) { chosen = name; draw(); }

function drawCpus(cpus) {
  const box = at("cpus");
  while (box.children.length > cpus.length) box.lastChild.remove();
  const counts = {};
  let lent = 0;
  cpus.forEach((one, i) => {
    const cell = box.children[i] || box.appendChild(make("li"));
    const kind = LETTERS[one.runs] ? one.runs : "unknown";
    const words = `CPU ${one.cpu}: ${NAMES[one.runs] ? `runs ${NAMES[one.runs]}` : "not seen"}${one.lent ? ", lent" : ""}`;
    if (cell.title !== words) {
      cell.className = `cpu ${kind}${one.lent ? " lent" : ""}`;
      cell.title = words;
      const letter = make("span", LETTERS[one.runs] || "?"), number = make("small", String(one.cpu));
      letter.ariaHidden = number.ariaHidden = "true";
      cell.setAttribute("aria-label", words);
      cell.replaceChildren(letter, number);
    }
    counts[kind] = (counts[kind] || 0) + 1;
    lent += one.lent;
  });
  const said = Object.entries(counts).map(([kind, n]) => `${n} ${kind === "idle" ? "idle" : kind === "unknown" ? "not seen" : `run ${NAMES[kind]}`}`);
  put(at("cpus-summary"), `${cpus.length} CPUs: ${said.join(", ")}. ${lent} for the elastic side.`);
}

function colour(name) { return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim(); }

function drawChart(agent) {
  const past = pasts.get(agent.name) || COLUMNS.map(() => []);
  const box = at("chart"), width = Math.max(200, box.clientWidth - 12);
  const look = `${agent.total} ${matchMedia("(prefers-color-scheme: dark)").matches}`;
  if (!plot || drawnFor !== look) {
    if (plot) plot.destroy();
    drawnFor = look;
    const axis = { stroke: colour("text"), grid: { stroke: colour("line"), width: 1 }, ticks: { stroke: colour("line") } };
    const step = uPlot.paths.stepped({ align: 1 });
    const series = (label, name, more) => ({
      label, stroke: colour(name), width: 1.5, points: { show: false }, paths: step,
      value: (_, v) => (v === null || v === undefined ? "–" : v.toFixed(2)), ...more,
    });
    plot = new uPlot({
      width, height: 240, cursor: { y: false }, legend: { live: true },
      scales: { x: { time: true }, y: { range: [0, agent.total + 0.25] } },
      axes: [{ ...axis, values: (_, splits) => splits.map((s) => clock(s).slice(0, splits[1] - splits[0] < 60 ? 8 : 5)) }, { ...axis, size: 34, incrs: [1, 2, 4, 8, 16, 32, 64, 128] }],
      series: [
        { label: "Time", value: (_, v) => (v ? clock(v) : "–") },
        series("Lent", "elastic", { fill: `${colour("elastic")}40` }),
        series("Granted (prediction)", "primary", { width: 2 }),
        series("Busy, peak", "other"),
        series("Demand, peak", "demand", { dash: [5, 4] }),
      ],
    }, past, box);
  } else {
    if (plot.width !== width) plot.setSize({ width, height: 240 });
    plot.setData(past, false);
  }
  if (past[0].length && plot.cursor.idx == null) plot.setLegend({ idx: past[0].length - 1 });
  const last = past[0].length ? past[0][past[0].length - 1] : Date.now() / 1000;
  const first = past[0].length ? Math.min(past[0][0], last - 60) : 0;
  plot.setScale("x", { min: Math.max(first, last - KEPT_S), max: last });
  const mean = (list) => (list.length ? list.reduce((a, b) => a + b, 0) / list.length : 0);
  put(at("chart-summary"), past[0].length
    ? `${mean(past[1]).toFixed(2)} of ${agent.total} cores lent on average, ${mean(past[2]).toFixed(2)} granted to the primary; its demand reached ${Math.max(...past[4])}.`
    : "No second has been recorded yet.");
  if (at("chart-table").open) drawTable(past);
}

function drawTable(past) {
  const minutes = new Map();
  past[0].forEach((t, i) => {
    const minute = Math.floor(t / 60) * 60;
    const row = minutes.get(minute) || { n: 0, lent: 0, granted: 0, busy: 0, demand: 0 };
    row.n++; row.lent += past[1][i]; row.granted += past[2][i];
    row.busy = Math.max(row.busy, past[3][i]); row.demand = Math.max(row.demand, past[4][i]);
    minutes.set(minute, row);
  });
  const rows = [...minutes].reverse().map(([minute, row]) => [clock(minute).slice(0, 5), (row.lent / row.n).toFixed(2), (row.granted / row.n).toFixed(2), String(row.busy), String(row.demand)]);
  table(at("chart-table").querySelector("tbody"), rows);
}

function drawDecisions(decisions) {
  table(at("decisions").tBodies[0], decisions.map((one) => [
    clock(one.since),
    one.held_by ? `${one.reason}, but held: ${one.held_by}` : one.reason,
    `${one.windows} ${one.windows === 1 ? "window" : "windows"}`,
    String(one.granted), one.held_by ? "0" : String(one.harvest), String(one.demand),
  ]));
}

function table(body, rows) {
  while (body.rows.length > rows.length) body.deleteRow(-1);
  rows.forEach((row, i) => {
    const line = body.rows[i] || body.insertRow();
    row.forEach((text, k) => put(line.cells[k] || line.insertCell(), text));
  });
}

function pairs(box, rows) {
  const wanted = JSON.stringify(rows);
  if (box.dataset.shown === wanted) return;
  box.dataset.shown = wanted;
  box.replaceChildren(...rows.flatMap(([name, value]) => [make("dt", name), make("dd", value)]));
}

function list(box, texts) {
  const wanted = JSON.stringify(texts);
  if (box.dataset.shown === wanted) return;
  box.dataset.shown = wanted;
  box.replaceChildren(...texts.map((text) => make("li", text)));
}

function say() {
  const age = Math.round((Date.now() - heard) / 1000);
  const stale = Boolean(heard) && age > 5;
  const since = age < 60 ? "5 s" : `${Math.floor(age / 60)} min`;
  put(at("connection"), stale ? `No news for more than ${since}: the agent or this page's server has ended, or cannot be reached`
    : held ? "Paused" : heard ? "Live" : "Connecting…");
  document.body.classList.toggle("stale", stale);
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const names = [...latest.keys()];
  if (event.key === "n" && names.length) choose(names[(names.indexOf(chosen) + 1) % names.length]);
  if (event.key === "p") { held = !held; say(); if (!held) draw(); }
});
document.addEventListener("visibilitychange", () => { if (!document.hidden && !held) draw(); });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
addEventListener("resize", () => { if (!held) draw(); });
at("chart-table").addEventListener("toggle", draw);

const events = new EventSource("events");
events.addEventListener("history", (message) => { take(message, true); say(); });
events.addEventListener("now", (message) => { take(message, false); say(); });
setInterval(say, 2000);
