// Small pieces that all pages use. Text from a study only ever becomes a text node: nothing here takes markup.

export function h(tag, attrs = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attrs ?? {})) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "class") made.className = value;
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false).map((child) => (child instanceof Node ? child : String(child))));
  return made;
}

export function fill(place, ...children) {
  place.replaceChildren(...children.flat().filter(Boolean));
  return place;
}

export async function get(address, params = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== null && each !== undefined && each !== "") query.append(name, each);
    }
  }
  const text = query.toString();
  return answered(await fetch(text ? `${address}?${text}` : address, { headers: { accept: "application/json" } }));
}

export async function post(address, body = {}) {
  const headers = { "content-type": "application/json" };
  return answered(await fetch(address, { method: "POST", headers, body: JSON.stringify(body) }));
}

async function answered(answer) {
  if (answer.status === 401) location.assign("/login");
  const body = await answer.json();
  if (!answer.ok) throw new Error(body.error ?? `the server answered ${answer.status}`);
  return body;
}

export const study = (name) => `/api/studies/${encodeURIComponent(name)}`;
export const page = (name, trial) => `/study/${encodeURIComponent(name)}` + (trial === undefined ? "" : `/trial/${trial}`);

export function number(value, digits = 5) {
  if (value === null || value === undefined) return "–";
  if (typeof value !== "number") return String(value);
  if (Number.isInteger(value) && Math.abs(value) < 1e7) return value.toLocaleString("en");
  return String(Number(value.toPrecision(digits)));
}

export function seconds(value) {
  if (value === null || value === undefined) return "–";
  if (value < 60) return `${value.toFixed(value < 1 ? 2 : 1)} s`;
  const minutes = Math.round(value / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export const moment = (at) => new Date(at * 1000).toLocaleString([], { dateStyle: "medium", timeStyle: "medium" });

export const ago = (at) => `${seconds(Math.max(0, Date.now() / 1000 - at))} ago`;

// Who suggested a trial, without the figures of its searcher, which are under the pointer.
export function from(origin) {
  const [who, ...rest] = origin.split(": ");
  const how = rest.join(": ");
  let words = origin;
  if (/initial/.test(how)) words = `${who}: first design`;
  else if (/exploring/.test(how)) words = `${who}: exploring`;
  else if (/log E|\bEI\b|EHVI|UCB|Thompson/i.test(how)) words = `${who}: most promising by its model`;
  return h("span", { title: origin }, words);
}

export const tally = (counts) => Object.entries(counts).map(([state, count]) => h("span", { class: "pair" }, badge(state), ` ${number(count)}`));
export const badge = (state) => h("span", { class: `state ${state}` }, state);

export const shown = (value) => (typeof value === "number" ? number(value) : value === null ? "none" : typeof value === "object" ? JSON.stringify(value) : String(value));

export function facts(pairs) {
  return h("dl", { class: "facts" }, pairs.filter(Boolean).map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
}

export function table(head, rows, caption) {
  return h(
    "div",
    { class: "wide", tabindex: 0, role: "region", "aria-label": caption },
    h(
      "table",
      {},
      h("caption", { class: "hidden" }, caption),
      head.length ? h("thead", {}, h("tr", {}, head.map((cell) => h("th", { scope: "col" }, cell)))) : null,
      h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell) => h("td", {}, cell))))),
    ),
  );
}

export function crumbs(...parts) {
  const list = parts.map(([words, address]) => h("li", {}, address ? h("a", { href: address }, words) : h("span", { "aria-current": "page" }, words)));
  fill(document.getElementById("crumbs"), h("ol", {}, list));
  document.title = [...parts.map(([words]) => words).reverse(), "xstar"].join(" · ");
}

export function problem(error) {
  return h("p", { class: "problem", role: "alert" }, error.message ?? String(error));
}

export function say(words) {
  document.getElementById("said").textContent = words;
}

export function connection(words, kind = "") {
  const place = document.getElementById("live");
  place.textContent = words;
  place.className = `live ${kind}`;
}

export function debounced(action, wait) {
  let timer;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...given), wait);
  };
}

export function address(changes) {
  const here = new URL(location.href);
  for (const [name, value] of Object.entries(changes)) {
    here.searchParams.delete(name);
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== null && each !== undefined && each !== "" && each !== false) here.searchParams.append(name, each);
    }
  }
  history.replaceState(null, "", here);
}
