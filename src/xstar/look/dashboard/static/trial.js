// One trial: its configuration, its curve, what it printed, its architecture, and why it was run.
import { badge, crumbs, facts, fill, from, get, h, moment, number, page, post, problem, seconds, shown, study, table } from "/static/ui.js";
import { draw } from "/static/plot.js";
import { curves } from "/static/trials.js";

const EVERY = 3000;

export async function showTrial(main, name, number_) {
  crumbs(["Studies", "/"], [name, page(name)], [`trial ${number_}`]);
  const base = `${study(name)}/trials/${number_}`;
  let trial = await get(base);
  const about = await get("/api/about");
  const plot = h("div", { class: "plot" });
  const head = h("section", { "aria-label": "At a glance" });
  const log = h("section", { "aria-label": "Output" });
  const show = async () => {
    fill(head, ...glance(name, trial));
    if (trial.reports.length > 1) await draw(plot, learning(trial));
  };
  fill(main, head, trial.reports.length > 1 ? h("section", {}, h("h2", {}, "Learning curve"), plot) : null, h("section", { "aria-label": "Configuration" }, h("h2", {}, "Configuration"), table(["parameter", "value"], Object.entries(trial.config).map(([key, value]) => [key, typeof value === "object" ? h("code", {}, JSON.stringify(value).slice(0, 2000)) : shown(value)]), "Configuration")), drawings(base, trial), why(base), log, files(trial), about.write ? notes(base) : null);
  await show();
  output(log, base);
  const timer = setInterval(async () => {
    if (document.hidden || !["running", "paused", "waiting"].includes(trial.state)) return;
    const fresh = await get(base).catch(() => trial);
    if (fresh.reported !== trial.reported || fresh.state !== trial.state) {
      trial = fresh;
      show();
    }
  }, EVERY);
  const theme = () => show();
  addEventListener("theme", theme);
  return () => {
    clearInterval(timer);
    removeEventListener("theme", theme);
  };
}

function glance(name, trial) {
  const before = trial.number > 0 ? h("a", { rel: "prev", href: page(name, trial.number - 1) }, "‹ trial before") : null;
  const after = h("a", { rel: "next", href: page(name, trial.number + 1) }, "next trial ›");
  const died = trial.crashes || trial.lost ? `its worker ${trial.crashes} times, its program ${trial.lost} times` : "";
  return [
    h("h1", {}, `Trial ${trial.number} `, badge(trial.state)),
    h("p", { class: "row" }, before, after),
    facts([...trial.objectives.map((name) => [name, h("span", { class: "big" }, number(trial.values[name], 6))]), ["epochs", trial.target ? `${trial.budget} of ${trial.target}` : trial.budget], ["took", seconds(trial.seconds)], ["asked", moment(trial.began)], trial.host && ["ran on", trial.host], ["suggested by", from(trial.origin)], died && ["died", died]]),
    trial.reason ? h("pre", { class: "reason" }, trial.reason) : null,
    Object.keys(trial.attrs).length ? table(["note", ""], Object.entries(trial.attrs).map(([key, value]) => [key, JSON.stringify(value)]), "Notes") : null,
  ];
}

function learning(trial) {
  const names = [...new Set([...trial.objectives, ...trial.reports.flatMap((each) => Object.keys(each.metrics))])];
  const data = names.map((name) => ({ type: "scatter", mode: "lines+markers", name: name.replaceAll("<", "&lt;"), visible: name === names[0] ? true : "legendonly", x: trial.reports.map((each) => each.budget), y: trial.reports.map((each) => each.metrics[name] ?? null) }));
  return curves(data, trial.rungs, names.length > 1 ? "" : names[0]);
}

function drawings(base, trial) {
  if (!trial.networks.length) return null;
  return h("section", { "aria-label": "Architecture" }, h("h2", {}, "Architecture"), trial.networks.map((name) => h("figure", { class: "drawing" }, h("img", { src: `${base}/networks/${encodeURIComponent(name)}`, alt: `The network ${name}: ${typeof trial.config[name]}` }), h("figcaption", {}, name))));
}

function why(base) {
  const place = h("div", {});
  const button = h("button", { type: "button" }, "Explain: make the decision again");
  button.addEventListener("click", async () => {
    button.disabled = true;
    fill(place, h("p", { role: "status" }, "Folding the journal up to that moment …"));
    try {
      fill(place, ...explained(await get(`${base}/why`)));
    } catch (error) {
      fill(place, problem(error));
    }
    button.disabled = false;
  });
  return h("section", { "aria-label": "Why", id: "why" }, h("h2", {}, "Why"), button, place);
}

function explained(found) {
  const interval = (each) => (each.mean === null ? "–" : `${number(each.mean, 4)} (${number(each.low, 4)} to ${number(each.high, 4)})`);
  const config = (each) => Object.entries(each.config).map(([key, value]) => `${key}=${typeof value === "number" ? number(value, 4) : JSON.stringify(value).slice(0, 60)}`).join(" ");
  const bounded = found.candidates.some((each) => each.feasible !== null);
  const holds = (each) => (bounded ? [number(each.feasible, 2)] : []);
  const candidates = found.candidates.map((each) => [each.chosen ? h("b", {}, "chosen") : "runner-up", number(each.acquisition, 4), interval(each), ...holds(each), config(each)]);
  return [
    h("p", {}, found.known, " ", found.choice),
    h("p", { class: "quiet" }, found.recomputed),
    candidates.length ? table(["", found.acquisition, "expected (by the model)", ...(bounded ? ["p(feasible)"] : []), "configuration"], candidates, "The chosen configuration and the runners-up") : null,
    found.later.length ? h("ol", { class: "turns" }, found.later.map((turn) => h("li", {}, h("b", {}, turn.what), turn.why ? ` — ${turn.why}` : "", h("span", { class: "quiet" }, ` (event ${turn.event})`)))) : null,
  ];
}

async function output(place, base) {
  const streams = await Promise.all(["stdout", "stderr"].map((stream) => get(`${base}/log`, { stream }).then((found) => [stream, found], (error) => [stream, { text: error.message, missing: false, offset: 0, size: 0 }])));
  const kept = streams.filter(([, found]) => !found.missing && found.text);
  if (kept.length) fill(place, h("h2", {}, "Output"), kept.map(([stream, found]) => h("details", { open: stream === "stdout" }, h("summary", {}, found.offset ? `${stream}: the last ${number(found.text.length)} of ${number(found.size)} bytes` : stream), h("pre", { tabindex: 0 }, found.text))));
}

function files(trial) {
  if (!trial.files.length) return null;
  return h("section", { "aria-label": "Files" }, h("h2", {}, "Files and checkpoint"), table(["name", "bytes"], trial.files.map((file) => [file.name, number(file.bytes)]), "Files"));
}

function notes(base) {
  const name = h("input", { id: "note", "aria-label": "Name of the note", placeholder: "name" });
  const words = h("input", { "aria-label": "The note", placeholder: "what you want to note" });
  const said = h("span", { role: "status" });
  const send = () => post(`${base}/annotate`, { attrs: { [name.value]: words.value } }).then(() => (said.textContent = " noted"), (error) => (said.textContent = ` ${error.message}`));
  return h("section", { "aria-label": "Note" }, h("h2", {}, "Note something"), name, " ", words, " ", h("button", { type: "button", onclick: send }, "Note"), said);
}
