// All studies of the storage.
import { ago, crumbs, fill, get, h, number, page, problem, tally } from "/static/ui.js";

const EVERY = 3000;

export async function showStudies(main) {
  crumbs(["Studies"]);
  const place = h("div", { class: "cards" });
  const note = h("p", { class: "quiet" });
  const renew = async () => {
    const found = await get("/api/studies");
    note.textContent = found.trouble ? `The storage does not answer: ${found.trouble}` : `${found.studies.length} in ${found.storage}`;
    const chosen = new Set([...place.querySelectorAll("input:checked")].map((box) => box.value));
    fill(place, found.studies.length ? found.studies.map((study) => card(study, chosen)) : h("p", {}, "There are no studies in it yet. One appears here as soon as a search begins that is stored there: ", h("code", {}, `xs.minimize(…, study="first", storage="${found.storage}")`), ", or ", h("code", {}, "xstar run"), "."));
  };
  await renew();
  const compare = h("button", { type: "submit" }, "Compare those marked");
  const form = h("form", { action: "/compare", onsubmit: (event) => event.preventDefault() }, h("div", { class: "row" }, note, compare), place);
  compare.addEventListener("click", () => {
    const names = [...place.querySelectorAll("input:checked")].map((box) => `study=${encodeURIComponent(box.value)}`);
    if (names.length) import("/static/app.js").then((app) => app.go(`/compare?${names.join("&")}`));
  });
  fill(main, h("h1", {}, "Studies"), form);
  const timer = setInterval(() => document.hidden || renew().catch((error) => fill(note, problem(error))), EVERY);
  return () => clearInterval(timer);
}

function card(study, chosen) {
  const mark = h("label", { class: "mark-one" }, h("input", { type: "checkbox", value: study.name, checked: chosen.has(study.name) }), h("span", { class: "hidden" }, `Compare ${study.name}`));
  const title = h("h2", {}, h("a", { href: page(study.name) }, study.name));
  if (study.error) return h("article", { class: "card" }, h("div", { class: "row" }, title), h("p", { class: "problem" }, study.error));
  if (!study.seen) return h("article", { class: "card" }, h("div", { class: "row" }, title, mark), h("p", { class: "quiet" }, `${number(study.total)} events; open it to read them`));
  const running = (study.counts.running ?? 0) > 0;
  return h(
    "article",
    { class: "card" },
    h("div", { class: "row" }, title, mark),
    study.objectives.length > 1
      ? h("p", { class: "big" }, number(study.front.count), h("small", {}, ` in the front of ${study.goal}`))
      : h("p", { class: "big" }, study.best ? number(study.best.value, 6) : "–", h("small", {}, ` ${study.direction === "minimize" ? "lowest" : "highest"} ${study.metric}`)),
    h("p", {}, tally(study.counts)),
    h("p", { class: "quiet" }, `${study.settings} · ${number(study.epochs)} epochs · ${running ? `${study.counts.running} at work · ` : ""}${ago(study.news)}`),
  );
}
