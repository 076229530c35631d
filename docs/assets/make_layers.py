"""Draw ``layers.svg``: the parts of the package in the order in which they may import each other, read from pyproject.toml."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
WORDS = {
    "errors": "one tree of exceptions",
    "core": "names, random streams, checks",
    "space": "parameters, conditions, unit cube",
    "journal": "what happened? events and their fold",
    "models": "arrays in, posterior out",
    "nets": "architectures, OTMANN",
    "igo": "natural gradients",
    "searchers": "what?",
    "schedulers": "how much?",
    "run": "where? processes, Ray, any program",
    "storage": "SQLite, PostgreSQL, files",
    "study": "in what order? the only one that appends",
    "look": "why, audit, plots, progress, report, dashboard",
    "api": "minimize, maximize",
    "integrations": "scikit-learn, Optuna, boosting, …",
    "registry": "what other packages add",
    "cli": "xstar …",
    "testing": "conformance suites, problems, simulator",
}
WIDTH, ROW, GAP = 860, 46, 12


def layers() -> list[list[str]]:
    """From the first that may be imported to the last, each with its parts that exist."""
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]
    rows = [[part.strip(" ()") for part in line.split("|")] for line in reversed(contract["layers"])]
    package = ROOT / "src" / "xstar"
    there = [[part for part in row if (package / part).exists() or (package / f"{part}.py").exists()] for row in rows]
    return [row for row in there if row]


def draw(rows: list[list[str]]) -> str:
    height = len(rows) * (ROW + GAP) + GAP
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" '
        'role="img" aria-label="The parts of xstar, each importing only those above it">',
        "<style>rect{fill:#f4f3ef;stroke:#8a8a84}.name{font-weight:bold;font-size:14px;fill:#1d1d1b}"
        ".word{font-size:11px;fill:#5c5c57}</style>",
    ]
    for place, row in enumerate(rows):
        y = GAP + place * (ROW + GAP)
        each = (WIDTH - GAP * (len(row) + 1)) / len(row)
        for column, name in enumerate(row):
            x = GAP + column * (each + GAP)
            middle = x + each / 2
            parts += [
                f'<rect x="{x:.1f}" y="{y}" width="{each:.1f}" height="{ROW}" rx="6"/>',
                f'<text class="name" x="{middle:.1f}" y="{y + 19}" text-anchor="middle">{name}</text>',
                f'<text class="word" x="{middle:.1f}" y="{y + 36}" text-anchor="middle">{WORDS[name]}</text>',
            ]
    return "\n".join([*parts, "</svg>"]) + "\n"


if __name__ == "__main__":
    Path(__file__).with_name("layers.svg").write_text(draw(layers()))
