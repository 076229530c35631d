// Which page an address means, and what all pages share: the theme, the links, the keys.
import { connection, fill, h, problem } from "/static/ui.js";
import { showCompare } from "/static/compare.js";
import { showStudies } from "/static/studies.js";
import { showStudy } from "/static/study.js";
import { showTrial } from "/static/trial.js";

const main = document.getElementById("main");
let leave = null;

async function route() {
  leave?.();
  leave = null;
  connection("");
  const [, kind, name, , trial] = location.pathname.split("/");
  fill(main, h("p", { class: "quiet" }, "Loading …"));
  try {
    if (kind === "study" && trial !== undefined) leave = await showTrial(main, decodeURIComponent(name), Number(trial));
    else if (kind === "study") leave = await showStudy(main, decodeURIComponent(name));
    else if (kind === "compare") leave = await showCompare(main);
    else if (!kind) leave = await showStudies(main);
    else throw new Error(`there is no page ${location.pathname}`);
  } catch (error) {
    fill(main, problem(error), h("p", {}, h("a", { href: "/" }, "All studies")));
  }
}

export function go(address) {
  history.pushState(null, "", address);
  scrollTo(0, 0);
  route();
  main.focus({ preventScroll: true });
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href^='/']");
  if (!link || link.target || event.ctrlKey || event.metaKey || event.shiftKey || link.getAttribute("href").startsWith("/api/")) return;
  event.preventDefault();
  go(link.getAttribute("href"));
});
addEventListener("popstate", route);

// Left and right go to the neighbours of a trial, unless someone is typing.
addEventListener("keydown", (event) => {
  if (event.target.closest("input, textarea, select, .wide") || event.altKey || event.ctrlKey || event.metaKey) return;
  const link = document.querySelector({ ArrowLeft: "a[rel=prev]", ArrowRight: "a[rel=next]" }[event.key] ?? "none");
  if (link) go(link.getAttribute("href"));
});

const theme = localStorage.getItem("theme");
if (theme) document.documentElement.dataset.theme = theme;
document.getElementById("theme").addEventListener("click", () => {
  const now = document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  document.documentElement.dataset.theme = now === "dark" ? "light" : "dark";
  localStorage.setItem("theme", document.documentElement.dataset.theme);
  dispatchEvent(new Event("theme"));
});

route();
