// Studies side by side.
import { address, crumbs, fill, get, h, page } from "/static/ui.js";
import { Plot } from "/static/plot.js";

export async function showCompare(main) {
  crumbs(["Studies", "/"], ["Compare"]);
  const given = new URL(location.href).searchParams;
  const chosen = new Set(given.getAll("study"));
  let over = given.get("over") ?? "trials";
  const { studies } = await get("/api/studies");
  const select = h("select", { "aria-label": "Over" }, ["trials", "time", "budget"].map((value) => h("option", { value, selected: value === over }, value)));
  const plot = new Plot(() => ["/api/compare", { study: [...chosen], over }], [select]);
  const renew = () => {
    address({ study: [...chosen], over: over === "trials" ? null : over });
    plot.element.hidden = chosen.size === 0;
    if (chosen.size) plot.renew();
  };
  select.addEventListener("change", () => {
    over = select.value;
    renew();
  });
  const boxes = studies.map((study) => {
    const box = h("input", { type: "checkbox", checked: chosen.has(study.name), disabled: study.objectives?.length > 1 && !chosen.has(study.name) });
    box.addEventListener("change", () => {
      if (box.checked) chosen.add(study.name);
      else chosen.delete(study.name);
      renew();
    });
    return h("li", {}, h("label", { class: "pair" }, box, ` ${study.name} `), h("a", { href: page(study.name), class: "quiet" }, "open"), h("span", { class: "quiet" }, ` ${study.goal ? `${study.goal} · ${study.settings}${study.objectives.length > 1 ? " · only studies of one objective are compared" : ""}` : ""}`));
  });
  fill(main, h("h1", {}, "Compare studies"), h("p", { class: "quiet" }, "Studies that differ only in the seed are one line with a confidence band."), plot.element, h("ul", { class: "plain" }, boxes));
  const theme = () => plot.show();
  addEventListener("theme", theme);
  renew();
  return () => removeEventListener("theme", theme);
}
