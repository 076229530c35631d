// One study: live, or as it was after any event of its journal.
import { address, ago, connection, crumbs, debounced, facts, fill, from, get, h, moment, number, page, post, problem, say, seconds, shown, study as at, table, tally } from "/static/ui.js";
import { Plot } from "/static/plot.js";
import { Trials } from "/static/trials.js";

// Milliseconds between two drawings while the study runs; ten times as long as the slowest took, where that is more, so that
// looking at a large study costs it no more than a tenth of a core.
const REDRAW = 3000;
const WITH_TRIALS = ["front", "history", "curves", "slice", "contour", "parallel", "timeline", "calibration", "networks"]; // whose points are trials

export async function showStudy(main, name) {
  crumbs(["Studies", "/"], [name]);
  const page = new StudyPage(name);
  await page.open(main);
  return () => page.close();
}

class StudyPage {
  constructor(name) {
    this.name = name;
    this.moment = Number(new URL(location.href).searchParams.get("at")) || null;
    this.head = h("section", { "aria-label": "At a glance" });
    this.best = h("section", { "aria-label": "Best configuration" });
    this.trials = new Trials(name, () => this.moment);
    this.redraw = debounced(() => document.hidden || this.plots.forEach((plot) => plot.renew()), 100);
    this.seen = () => document.hidden || (this.redraw(), this.trials.load());
    this.theme = () => this.plots.forEach((plot) => plot.show());
  }

  async open(main) {
    this.summary = await get(at(this.name), { at: this.moment });
    this.now = this.summary.now;
    this.plots = this.summary.plots.map((name) => this.plot(name));
    const about = await get("/api/about");
    fill(main, this.head, this.slider(), this.best, about.write ? this.writing() : null, h("section", { class: "plots", "aria-label": "Plots" }, this.plots.map((plot) => plot.element)), this.trials.element);
    this.show();
    await this.trials.load();
    addEventListener("theme", this.theme);
    document.addEventListener("visibilitychange", this.seen);
    this.listen(this.summary.seen);
  }

  close() {
    this.source?.close();
    clearTimeout(this.again);
    clearTimeout(this.later);
    clearInterval(this.playing);
    removeEventListener("theme", this.theme);
    document.removeEventListener("visibilitychange", this.seen);
  }

  // ---------------------------------------------------------------- what is new

  listen(since) {
    this.source = new EventSource(`${at(this.name)}/events?since=${since}`);
    this.source.onopen = () => connection("live", "on");
    this.source.onmessage = (event) => this.take(JSON.parse(event.data)).catch((error) => connection(error.message, "off"));
    this.source.addEventListener("gone", (event) => connection(JSON.parse(event.data).error, "off"));
    this.source.onerror = () => {
      connection("no connection; trying again", "off");
      if (this.source.readyState === EventSource.CLOSED) this.again = setTimeout(() => this.listen(this.now), 3000);
    };
  }

  async take({ seen, trouble }) {
    this.now = seen;
    this.range.max = this.now;
    if (trouble) connection(`the storage does not answer: ${trouble}`, "off");
    else connection("live", "on");
    if (this.moment !== null) return this.label();
    const before = this.summary;
    const fresh = await get(at(this.name));
    if (this.moment !== null) return;
    this.summary = { ...fresh, plots: before.plots };
    const { best, front } = fresh;
    if (front.count && front.count !== before.front.count) say(`${front.count} trials in the front`);
    if (best && best.value !== before.best?.value) say(`new best ${number(best.value)} in trial ${best.number}`);
    this.range.value = this.now;
    this.show();
    this.trials.renew();
    if (before.seen < before.total && fresh.seen >= fresh.total) this.drawn = 0; // the journal was long, and now it is read
    const wait = Math.min(30000, Math.max(REDRAW, 10 * Math.max(...this.plots.map((plot) => plot.took ?? 0))));
    clearTimeout(this.later);
    this.later = setTimeout(() => {
      this.drawn = Date.now();
      this.redraw();
    }, Math.max(0, (this.drawn ?? 0) + wait - Date.now()));
  }

  // ---------------------------------------------------------------- the slider

  slider() {
    this.range = h("input", { type: "range", id: "moment", min: 1, max: this.now, value: this.moment ?? this.now, step: 1 });
    this.where = h("output", { for: "moment" });
    this.play = h("button", { type: "button", onclick: () => this.toggle() }, "▶ Replay");
    const live = h("button", { type: "button", onclick: () => this.travel(null) }, "Now");
    this.range.addEventListener("input", () => this.travel(Number(this.range.value) >= this.now ? null : Number(this.range.value)));
    this.label();
    return h("section", { class: "slider", "aria-label": "Time" }, h("label", { for: "moment" }, "Moment"), this.range, this.play, live, this.where);
  }

  label() {
    this.where.textContent = this.moment === null ? `now, after event ${number(this.now)}` : `after event ${number(this.moment)} of ${number(this.now)}`;
    this.range.setAttribute("aria-valuetext", this.where.textContent);
  }

  toggle() {
    if (this.playing) return this.pause();
    let step = this.moment === null ? 1 : this.moment;
    const stride = Math.max(1, Math.ceil(this.now / 60));
    this.play.textContent = "⏸ Pause";
    this.playing = setInterval(() => {
      step += stride;
      if (step >= this.now) this.pause();
      this.range.value = Math.min(step, this.now);
      this.travel(step >= this.now ? null : step);
    }, 700);
  }

  pause() {
    clearInterval(this.playing);
    this.playing = null;
    this.play.textContent = "▶ Replay";
  }

  travel(moment) {
    this.moment = moment;
    if (moment === null) this.range.value = this.now;
    address({ at: moment });
    this.label();
    this.arrive ??= debounced(async () => {
      try {
        this.summary = { ...(await get(at(this.name), { at: this.moment })), plots: this.summary.plots };
        this.show();
        this.redraw();
        await this.trials.load();
      } catch (error) {
        fill(this.head, problem(error));
      }
    }, 150);
    this.arrive();
  }

  // ---------------------------------------------------------------- at a glance

  show() {
    const { summary } = this;
    const part = summary.total > summary.seen && this.moment === null ? summary.seen / summary.total : 1;

    fill(
      this.head,
      h("h1", {}, this.name),
      h("p", { class: "quiet" }, `${summary.goal} · ${summary.settings} · seed ${summary.seed}${summary.why ? ` · ${summary.why}` : ""}`),
      part < 1 ? h("p", { role: "status" }, h("progress", { max: 1, value: part, "aria-label": "Reading the journal" }), ` read ${number(summary.seen)} of ${number(summary.total)} events; what follows is the study so far`) : null,
      facts([
        summary.objectives.length > 1 ? ["front", h("span", { class: "big" }, summary.front.count ? number(summary.front.count) : "–")] : ["best", summary.best ? h("a", { class: "big", href: page(this.name, summary.best.number) }, number(summary.best.value, 6)) : "–"],
        ["trials", h("span", {}, number(summary.trials), " ", tally(summary.counts))],
        ["epochs", number(summary.epochs)],
        summary.queued ? ["enqueued", number(summary.queued)] : null,
        summary.hold === "go" ? null : ["held", summary.hold === "pause" ? "paused" : "stopped"],
        ["at work", number(summary.counts.running ?? 0)],
        ["took", seconds(summary.news - summary.created)],
        ["last news", h("time", { title: moment(summary.news) }, ago(summary.news))],
      ]),
    );
    const best = summary.best;
    fill(this.best, best && h("details", { open: true }, h("summary", {}, `Best: trial ${best.number}, `, from(best.origin)), table(["parameter", "value"], Object.entries(best.config).map(([key, value]) => [key, shown(value)]), "Best configuration")));
    if (summary.front.count) this.best.append(this.front(summary));
    if (summary.constraints.length) this.best.append(h("p", { class: "quiet" }, `constraints: ${summary.constraints.join(", ")}`));
  }

  front({ objectives, front, parameters }) {
    const rows = front.trials.map((trial) => [h("a", { href: page(this.name, trial.number) }, trial.number), ...objectives.map((name) => number(trial.values[name], 6)), ...Object.keys(parameters).map((name) => (name in trial.config ? shown(trial.config[name]) : ""))]);
    const left = front.count > rows.length ? `, the first ${rows.length} of ${number(front.count)}` : "";
    return h("details", { open: rows.length < 12 }, h("summary", {}, `The front${left}`), table(["trial", ...objectives, ...Object.keys(parameters)], rows, "The front"));
  }

  // ---------------------------------------------------------------- plots

  plot(name) {
    const controls = [];
    const options = {};
    const choice = (key, values, label) => {
      const select = h("select", { "aria-label": label }, values.map((value) => h("option", { value }, value || "by itself")));
      select.addEventListener("change", () => {
        options[key] = select.value;
        made.renew();
      });
      controls.push(select);
    };
    if (["slice", "contour"].includes(name) && innerWidth < 700) options.columns = 1;
    if (name === "history") choice("over", ["trials", "time", "budget"], "Over");
    if (name === "contour") ["x", "y"].forEach((key) => choice(key, ["", ...Object.keys(this.summary.parameters)], `Parameter ${key}`));
    const drawing = h("img", { alt: "", class: "pointed", hidden: true });
    const chosen = (trial) => import("/static/app.js").then((app) => app.go(page(this.name, trial)));
    const pointed = (trial, figure) => {
      drawing.src = `${at(this.name)}/trials/${trial}/networks/${encodeURIComponent(figure.layout.meta.parameter)}`;
      drawing.alt = `The network of trial ${trial}`;
      drawing.hidden = false;
    };
    if (name === "history" || name === "curves") {
      const log = h("input", { type: "checkbox" });
      log.addEventListener("change", () => {
        made.log = log.checked;
        made.show();
      });
      controls.push(h("label", { class: "pair" }, log, " log"));
    }
    const heard = { chosen: WITH_TRIALS.includes(name) ? chosen : null, pointed: name === "networks" ? pointed : null };
    const made = new Plot(() => [`${at(this.name)}/plots/${name}`, { at: this.moment, ...options }], controls, heard);
    if (name === "networks") made.element.append(drawing);
    made.element.id = `plot-${name}`;
    return made;
  }

  // ---------------------------------------------------------------- changing it

  writing() {
    const text = h("textarea", { id: "config", rows: 4, spellcheck: "false" }, JSON.stringify(this.summary.best?.config ?? {}, null, 1));
    const { objectives } = this.summary;
    const inputs = objectives.map((name, place) => h("input", { id: place ? `value-${place}` : "value", type: "number", step: "any", "aria-label": name }));
    const measured = () => (inputs.length > 1 ? Object.fromEntries(objectives.map((name, place) => [name, Number(inputs[place].value)])) : Number(inputs[0].value));
    const said = h("p", { role: "status" });
    const send = (address, body) => async () => {
      try {
        await post(`${at(this.name)}/${address}`, body());
        said.textContent = "done";
      } catch (error) {
        said.textContent = error.message;
      }
    };
    const config = () => JSON.parse(text.value);
    return h(
      "details",
      {},
      h("summary", {}, "Change it"),
      h("label", { for: "config" }, "A configuration, or a part of one, as JSON"),
      text,
      h("p", {}, h("button", { type: "button", onclick: send("enqueue", () => ({ config: config() })) }, "Try it next"), " ", h("label", { for: "value" }, `or its ${this.summary.metric}, measured elsewhere `), inputs, " ", h("button", { type: "button", onclick: send("add", () => ({ config: config(), metrics: measured() })) }, "Add it")),
      h("p", {}, [["pause", "Pause"], ["resume", "Resume"], ["stop", "Stop"]].map(([state, label]) => h("button", { type: "button", onclick: send("hold", () => ({ state })) }, label)), " Running trials end as they would have."),
      said,
    );
  }
}
