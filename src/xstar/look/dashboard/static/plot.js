// Figures: fetched when they come into view, drawn by Plotly, redrawn when the study or the theme changes.
import { ON_DARK } from "/static/colours.js"; // made of what the report uses, too
import { fill, get, h, problem } from "/static/ui.js";

let loading;

export function plotly() {
  loading ??= new Promise((done, failed) => {
    const script = h("script", { src: "/static/plotly.js" });
    script.addEventListener("load", () => done(window.Plotly));
    script.addEventListener("error", () => failed(new Error("Plotly's script could not be loaded")));
    document.head.append(script);
  });
  return loading;
}

export const dark = () => (document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";

function themed(figure) {
  if (!dark()) return figure;
  return JSON.parse(JSON.stringify(figure).replace(/"#[0-9a-f]{6}"/g, (word) => `"${ON_DARK[word.slice(1, -1)] ?? word.slice(1, -1)}"`));
}

// What the server escaped for Plotly, as text.
const plain = (text) => text.replaceAll("<br>", " · ").replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");

export async function draw(place, figure, log = false) {
  const Plotly = await plotly();
  const { data, layout } = themed(figure);
  const style = getComputedStyle(document.body);
  const height = layout.height ?? 360;
  place.style.minHeight = `${height}px`;
  const own = { ...layout, height, title: undefined, margin: { ...layout.margin, t: 20 }, font: { ...layout.font, color: style.color } };
  if (log) own.yaxis = { ...layout.yaxis, type: "log", range: undefined, autorange: true };
  await Plotly.react(place, data, own, { responsive: true, displaylogo: false, modeBarButtonsToRemove: ["select2d", "lasso2d"] });
}

export class Plot {
  // ``chosen`` and ``pointed`` are told the number of the trial that is clicked or pointed at, and the figure.
  constructor(source, controls = [], { chosen = null, pointed = null } = {}) {
    this.source = source; // () => [address, parameters]
    this.heard = { plotly_click: chosen, plotly_hover: pointed };
    this.heading = h("b", {});
    this.subtitle = h("span", {});
    this.place = h("div", { class: "plot" });
    this.element = h("figure", { "aria-busy": "true" }, h("figcaption", {}, h("div", { class: "row" }, this.heading, h("span", {}, controls)), this.subtitle), this.place);
    this.stale = true;
    this.visible = false;
    new IntersectionObserver((seen) => {
      this.visible = seen.some((each) => each.isIntersecting);
      if (this.visible && this.stale) this.load();
    }, { rootMargin: "200px" }).observe(this.element);
  }

  renew() {
    this.stale = true;
    if (this.visible) this.load();
  }

  async load() {
    if (this.busy) return;
    this.busy = true;
    this.stale = false;
    const begun = performance.now();
    try {
      this.figure = await get(...this.source());
      this.heading.textContent = plain(this.figure.layout.title.text);
      this.subtitle.textContent = plain(this.figure.layout.title.subtitle.text ?? "");
      this.place.setAttribute("role", "img");
      this.place.setAttribute("aria-label", `${this.heading.textContent}. ${this.subtitle.textContent}`);
      await this.show();
    } catch (error) {
      window.Plotly?.purge(this.place);
      fill(this.place, problem(error));
    } finally {
      this.busy = false;
      this.took = performance.now() - begun;
      this.element.setAttribute("aria-busy", "false");
      if (this.stale && this.visible) this.load();
    }
  }

  async show() {
    if (!this.figure) return;
    if (this.figure.data.length === 0) {
      window.Plotly?.purge(this.place);
      this.place.style.minHeight = "0";
      const words = (this.figure.layout.annotations ?? []).map((note) => plain(note.text)).join(" ");
      fill(this.place, h("p", { class: "quiet" }, words));
      return;
    }
    if (this.place.querySelector("p")) fill(this.place);
    await draw(this.place, this.figure, this.log);
    for (const [event, told] of Object.entries(this.heard)) {
      this.place.removeAllListeners(event);
      if (told) this.place.on(event, ({ points }) => this.tell(told, points[0]));
    }
  }

  tell(told, point) {
    const trial = [point?.customdata].flat()[0];
    if (Number.isInteger(trial)) told(trial, this.figure);
  }
}
