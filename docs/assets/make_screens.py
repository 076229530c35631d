"""Take the pictures of the dashboard, in a minute: python docs/assets/make_screens.py (needs Playwright and /usr/bin/chromium).

The studies are searches of a made-up training: three of MOBSTER, three of ASHA, and one of two objectives.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

import xstar as xs
from tests.look.dashboard.servers import Server

HERE = Path(__file__).parent
EPOCHS = 27
WIDE, PHONE = {"width": 1200, "height": 1180}, {"width": 390, "height": 800}

space = xs.Space(
    lr=xs.Float(1e-4, 1.0, log=True),
    layers=xs.Int(1, 4),
    units=xs.Int(8, 256, log=True),
    dropout=xs.Float(0.0, 0.6),
    optimizer=xs.Choice(["sgd", "adam"]),
    momentum=xs.Float(0.0, 0.99, when={"optimizer": "sgd"}),
)


def error(trial: Any, epoch: int) -> float:
    lr, units = math.log10(trial["lr"]) + 2.3, math.log2(trial["units"]) - 6
    best = (
        0.03 + 0.02 * lr**2 + 0.01 * (trial["layers"] - 3) ** 2 + 0.008 * units**2 + 0.1 * (trial["dropout"] - 0.2) ** 2
    )
    best += (trial.config.get("momentum", 0.9) - 0.9) ** 2 * 0.1 + 0.01 * (trial["optimizer"] == "adam")
    return best + 0.6 * math.exp(-epoch / (3 + 2 * trial["dropout"]))


def train(trial: Any) -> Iterator[float]:
    if trial["lr"] > 0.5 and trial.config.get("momentum", 0.0) > 0.5:
        raise FloatingPointError("the loss is not finite")
    for epoch in trial.epochs():
        yield error(trial, epoch)


def both(trial: Any) -> dict[str, float]:
    return {"error": error(trial, EPOCHS), "latency": 0.2 + 0.3 * trial["layers"] + trial["units"] / 40}


def search(storage: Path) -> None:
    common: dict[str, Any] = {"storage": storage, "progress": False}
    for method in ("mobster", "asha"):
        for seed in (1, 2, 3):
            name = f"{method}-{seed}"
            xs.minimize(
                train,
                space,
                metric="error",
                method=method,
                max_budget=EPOCHS,
                trials=90,
                study=name,
                seed=seed,
                **common,
            )
    goals: Any = {"error": "min", "latency": ("min", 6)}
    xs.minimize(both, space, metric=goals, trials=60, study="error-and-latency", seed=1, **common)


def shown(page: Page, address: str) -> None:
    page.goto(address)
    page.wait_for_selector(".main-svg")
    page.wait_for_timeout(3000)  # until all plots in sight are drawn


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as running:
        storage = Path(folder) / "xstar.db"
        search(storage)
        best = xs.Study.open("mobster-1", storage=storage).best
        assert best is not None
        browser = running.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        with Server(storage) as server:
            page = browser.new_page(viewport=WIDE)
            several = "&".join(f"study={method}-{seed}" for method in ("mobster", "asha") for seed in (1, 2, 3))
            for name, address in {
                "light": "study/mobster-1",
                "front": "study/error-and-latency",
                "compare": f"compare?{several}",
                "why": f"study/mobster-1/trial/{best.number}",
            }.items():
                shown(page, f"{server.address}/{address}")
                if name == "why":
                    page.click("#why button")
                    page.wait_for_selector("text=the decision is the same")
                page.screenshot(path=HERE / f"dashboard-{name}.png")
            for name, size in {"dark": WIDE, "phone": PHONE}.items():
                page = browser.new_page(viewport=size, color_scheme="dark")
                shown(page, f"{server.address}/study/mobster-1")
                page.screenshot(path=HERE / f"dashboard-{name}.png")
        browser.close()


if __name__ == "__main__":
    main()
