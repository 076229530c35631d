// The table of trials: filtered, sorted and paged by the server, so that a hundred thousand are as quick as ten.
import { address, badge, debounced, fill, from, get, h, number, page, problem, seconds, shown, study, table } from "/static/ui.js";
import { draw } from "/static/plot.js";

const STATES = ["running", "paused", "waiting", "complete", "stopped", "failed", "infeasible"];
const MOST = 6;
const COLOURS = ["#3d4db3", "#b4540a", "#117a54", "#a3195b", "#6b6b00", "#0b7285", "#7a3ea8"]; // those of all other figures

export class Trials {
  constructor(name, moment) {
    this.name = name;
    this.moment = moment;
    const given = new URL(location.href).searchParams;
    this.query = { filter: given.get("filter") ?? "", state: given.getAll("state"), sort: given.get("sort") ?? "number", descending: given.get("up") === null, page: Number(given.get("page")) || 0 };
    this.marked = new Set();
    this.body = h("div", {});
    this.pager = h("p", { class: "pager" });
    this.compared = h("div", {});
    const search = h("input", { type: "search", id: "filter", placeholder: "lr<0.01 optimizer=sgd, or words", value: this.query.filter });
    search.addEventListener("input", debounced(() => this.ask({ filter: search.value, page: 0 }), 250));
    const boxes = STATES.map((state) => {
      const box = h("input", { type: "checkbox", value: state, checked: this.query.state.includes(state) });
      box.addEventListener("change", () => this.ask({ state: boxes.filter((each) => each.checked).map((each) => each.value), page: 0 }));
      return box;
    });
    this.element = h(
      "section",
      { "aria-label": "Trials", id: "trials" },
      h("h2", {}, "Trials"),
      h("div", { class: "row" }, h("label", { for: "filter" }, "Filter "), search, h("span", {}, boxes.map((box, place) => h("label", { class: "pair" }, box, badge(STATES[place]))))),
      this.body,
      this.pager,
      this.compared,
    );
    this.next = 0;
  }

  ask(changes) {
    Object.assign(this.query, changes);
    const { filter, state, sort, descending, page } = this.query;
    address({ filter, state, sort: sort === "number" ? null : sort, up: descending ? null : 1, page: page || null });
    return this.load();
  }

  // There is something new: the next look is soon, but not at once again.
  renew() {
    clearTimeout(this.soon);
    this.soon = setTimeout(() => document.hidden || this.load(), Math.max(0, this.next - Date.now()));
  }

  async load() {
    const begun = Date.now();
    try {
      this.found = await get(`${study(this.name)}/trials`, { ...this.query, at: this.moment() });
    } catch (error) {
      fill(this.body, problem(error));
      return;
    }
    this.next = Date.now() + Math.min(10000, Math.max(1500, 10 * (Date.now() - begun)));
    this.show();
  }

  show() {
    const { found, of, trials, parameters, objectives } = this.found;
    this.parameters = parameters;
    this.objectives = objectives;
    const columns = [["number", "trial"], ["state", "state"], ...(objectives.length > 1 ? objectives.map((name) => [`metric.${name}`, name]) : [["value", objectives[0]]]), ["budget", "epochs"], ["seconds", "took"], ...parameters.map((name) => [name, name])];
    const heads = columns.map(([key, words]) => {
      const own = this.query.sort === key;
      const turn = () => this.ask({ sort: key, descending: own ? !this.query.descending : key === "number", page: 0 });
      const arrow = own ? (this.query.descending ? " ↓" : " ↑") : "";
      return h("th", { scope: "col", "aria-sort": own ? (this.query.descending ? "descending" : "ascending") : "none" }, h("button", { type: "button", onclick: turn }, words + arrow));
    });
    const region = { class: "wide", tabindex: 0, role: "region", "aria-label": "Table of trials" };
    const rows = trials.map((trial) => this.row(trial));
    const none = h("tr", {}, h("td", { colspan: columns.length + 2 }, of ? "no trial meets these conditions" : "no trials yet"));
    fill(this.body, h("div", region, h("table", {}, h("thead", {}, h("tr", {}, h("th", {}, h("span", { class: "hidden" }, "Mark")), heads, h("th", { scope: "col" }, "from"))), h("tbody", {}, rows.length ? rows : none))));
    const pages = Math.max(1, Math.ceil(found / 50));
    const turn = (to, words) => h("button", { type: "button", disabled: to < 0 || to >= pages, onclick: () => this.ask({ page: to }) }, words);
    const { page } = this.query;
    const compare = h("button", { type: "button", onclick: () => this.compare() }, "Compare those marked");
    fill(this.pager, turn(0, "«"), turn(page - 1, "‹ Earlier page"), h("span", {}, ` page ${number(page + 1)} of ${number(pages)} · ${number(found)} of ${number(of)} trials `), turn(page + 1, "Next page ›"), turn(pages - 1, "»"), compare);
  }

  row(trial) {
    const box = h("input", { type: "checkbox", "aria-label": `Mark trial ${trial.number}`, checked: this.marked.has(trial.number) });
    box.addEventListener("change", () => (box.checked ? this.marked.add(trial.number) : this.marked.delete(trial.number)));
    const epochs = trial.target ? `${trial.budget}/${trial.target}` : trial.budget;
    const cells = [...this.objectives.map((name) => number(trial.values[name], 6)), epochs, seconds(trial.seconds), ...this.parameters.map((name) => (name in trial.config ? shown(trial.config[name]) : ""))];
    return h("tr", { "data-trial": trial.number }, h("td", {}, box), h("td", {}, h("a", { href: page(this.name, trial.number) }, trial.number)), h("td", {}, badge(trial.state)), cells.map((cell) => h("td", {}, cell)), h("td", { class: "quiet" }, trial.reason || from(trial.origin)));
  }

  async compare() {
    const numbers = [...this.marked].slice(0, MOST);
    if (!numbers.length) {
      fill(this.compared, h("p", { role: "status" }, "Mark some trials first."));
      return;
    }
    const trials = await Promise.all(numbers.map((one) => get(`${study(this.name)}/trials/${one}`)));
    const names = [...new Set(trials.flatMap((trial) => Object.keys(trial.config)))];
    const rows = [...Object.keys(trials.find((trial) => trial.reported)?.values ?? {}).map((name) => [name, ...trials.map((trial) => number(trial.values[name], 6))]), ...names.map((name) => [name, ...trials.map((trial) => (name in trial.config ? shown(trial.config[name]) : ""))])];
    const differ = (row) => new Set(row.slice(1)).size > 1;
    const cells = rows.map((row) => row.map((cell) => (differ(row) ? h("b", {}, cell) : cell)));
    const plot = h("div", { class: "plot" });
    fill(this.compared, h("h3", {}, "Side by side"), table(["", ...numbers.map((one) => `trial ${one}`)], cells, "Trials side by side"), plot);
    const metric = trials[0].objectives[0];
    const data = trials.map((trial) => ({ type: "scatter", mode: "lines+markers", name: `trial ${trial.number}`, x: trial.reports.map((each) => each.budget), y: trial.reports.map((each) => each.metrics[metric]) }));
    await draw(plot, curves(data, [], metric));
  }
}

export function curves(data, rungs = [], title = "") {
  const grid = "rgba(138,138,132,0.22)";
  const shapes = rungs.map((rung) => ({ type: "line", x0: rung, x1: rung, yref: "paper", y0: 0, y1: 1, line: { width: 1, dash: "dot", color: "#8a8a84" } }));
  return { data, layout: { height: 300, margin: { l: 60, r: 20, b: 50 }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", xaxis: { title: { text: "epochs" }, gridcolor: grid, zeroline: false }, yaxis: { gridcolor: grid, zeroline: false, automargin: true, exponentformat: "e", title: { text: title.replaceAll("<", "&lt;") } }, colorway: COLOURS, font: { family: "system-ui, sans-serif" }, hovermode: "closest", showlegend: data.length > 1, legend: { orientation: "h", y: -0.25 }, shapes } };
}
