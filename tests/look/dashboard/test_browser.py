"""The pages in a real browser: no errors in the console, live while a study runs, back in time, a hundred thousand trials."""

from __future__ import annotations

import shutil
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the dashboard needs its extra")
playwright = pytest.importorskip("playwright.sync_api", reason="the tests of the pages need playwright")

import xstar as xs
from tests.look.dashboard.servers import TOKEN, Server, stored
from tests.look.plots.studies import many
from tests.trials import ask, run_trials
from tests.waiting import PATIENCE
from xstar import nets
from xstar.nets.synthetic import f3
from xstar.storage import SqlStorage

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="the tests of the pages need Chromium: apt install chromium")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as running:
        made = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield made
        made.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page that fails the test if anything is wrong in its console, or if a study's words were run."""
    context = browser.new_context(viewport={"width": 1200, "height": 2400})
    made = context.new_page()
    made.set_default_timeout(1000 * PATIENCE)
    wrong: list[str] = []
    made.on("console", lambda message: wrong.append(message.text) if message.type in ("error", "warning") else None)
    made.on("pageerror", lambda error: wrong.append(str(error)))
    made.on("dialog", lambda dialog: wrong.append(f"dialog {dialog.message}"))
    made.wrong = wrong
    yield made
    context.close()
    assert wrong == []


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = stored(tmp_path_factory.mktemp("browser"), "first", trials=16)
    stored(place.parent, "second", trials=8, seed=2)
    space = xs.Space(net=nets.MLP(inputs=8), lr=xs.Float(0, 1))
    with xs.Study(space, study="nets", storage=place, method="evolution", seed=1) as study:
        run_trials(study, 6, lambda trial: -f3(trial["net"]))
    with xs.Study(xs.Space(mask=xs.Bits(8)), study="bits", storage=place, method="pbil", seed=1) as study:
        run_trials(study, 30, lambda trial: sum(trial["mask"]))
    goals = {"error": "min", "score": "max"}
    with xs.Study(xs.Space(x=xs.Float(0, 1)), study="two", storage=place, method="gp", metric=goals, seed=1) as study:
        run_trials(study, 9, lambda trial: {"error": trial["x"], "score": trial["x"] ** 2})
    return place


@pytest.fixture(scope="module")
def server(storage: Path) -> Iterator[Server]:
    with Server(storage) as made:
        yield made


def drawn(page: Any, name: str) -> None:
    page.wait_for_selector(f"#plot-{name}[aria-busy=false] .main-svg, #plot-{name}[aria-busy=false] .plot p")


def test_every_page_without_an_error(page: Any, server: Server) -> None:
    page.goto(server.address)
    page.wait_for_selector("text=first")
    page.check("input[value=first]")
    page.check("input[value=second]")
    page.click("text=Compare those marked")
    page.wait_for_selector("figure .main-svg")
    assert page.url.endswith("/compare?study=first&study=second")
    page.click("nav >> text=Studies")
    page.click("a >> text=first")
    for name in (
        *("history", "curves", "importance", "slice", "contour", "parallel", "timeline"),
        *("calibration", "failures"),
    ):
        page.locator(f"#plot-{name}").scroll_into_view_if_needed()
        drawn(page, name)
        for place, select in enumerate(page.locator(f"#plot-{name} select").all()):
            with page.expect_response(f"**/plots/{name}?*") as answered:
                select.select_option(index=place + 1)
            assert answered.value.ok
    page.click("#trials tr[data-trial='3'] a")
    page.wait_for_selector("text=ValueError: <img src=x")  # as words
    page.click("#why button")
    page.wait_for_selector("text=the decision is the same")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("h1 >> text=Trial 4")
    page.wait_for_selector(".plot .main-svg")
    assert page.locator("main img[src=x]").count() == 0


def test_several_objectives(page: Any, server: Server) -> None:
    page.goto(server.address)
    page.wait_for_selector("article:has(a:text-is('two')) >> text=in the front of minimize error, maximize score")
    assert "[object" not in page.inner_text("main")
    page.click("a >> text=two")
    for name in ("front", "history", "parallel"):
        page.locator(f"#plot-{name}").scroll_into_view_if_needed()
        drawn(page, name)
    assert page.locator("#plot-slice").count() == 0
    page.click("#trials th button >> text=score")  # lowest first
    page.wait_for_selector("#trials th[aria-sort=ascending] >> text=/^score/")
    page.locator("#moment").fill("4")
    page.wait_for_selector("text=after event 4 of")
    page.wait_for_selector("#plot-front figcaption >> text=1 complete in the front")
    page.click("#trials tbody tr[data-trial='0'] a")
    page.wait_for_selector("dt >> text=error")
    page.wait_for_selector("dt >> text=score")
    page.wait_for_selector("text=gp: first design")
    page.goto(f"{server.address.split('#')[0].rstrip('/')}/compare")
    assert page.locator("label", has_text="two").locator("input").is_disabled()


def test_an_unknown_address_is_a_page(page: Any, server: Server) -> None:
    for path, words in (("/studies/two", "there is no page"), ("/study/nobody", "nobody")):
        page.goto(f"{server.address}{path}")
        page.wait_for_selector(f".problem >> text={words}")
        page.wait_for_selector("text=All studies")
    page.wrong.clear()  # the browser says of each that it was not found


def test_an_architecture_is_drawn(page: Any, server: Server) -> None:
    page.goto(f"{server.address}/study/nets/trial/2")
    page.wait_for_selector(".drawing img")
    assert page.locator(".drawing img").evaluate("image => image.decode().then(() => image.naturalWidth)") > 50
    page.goto(f"{server.address}/study/nets")
    page.locator("#plot-networks").scroll_into_view_if_needed()
    drawn(page, "networks")
    assert page.locator("#plot-networks .imagelayer image").count() > 1
    page.locator("#plot-networks .plot .points path").first.hover(force=True)
    page.wait_for_selector("#plot-networks .pointed")


def test_the_distribution_is_drawn_where_there_is_one(page: Any, server: Server) -> None:
    page.goto(f"{server.address}/study/bits")
    page.locator("#plot-theta").scroll_into_view_if_needed()
    page.wait_for_selector("#plot-theta[aria-busy=false] .heatmaplayer image")
    page.goto(f"{server.address}/study/first")
    drawn(page, "history")
    assert page.locator("#plot-theta").count() == 0


def test_the_slider_goes_back_in_time(page: Any, server: Server) -> None:
    page.goto(f"{server.address}/study/first")
    page.wait_for_selector("#trials tbody tr[data-trial='15']")
    page.locator("#moment").fill("9")
    page.wait_for_selector("text=after event 9 of")
    page.wait_for_selector("#trials tbody tr[data-trial='1']")
    page.wait_for_selector("#trials tr[data-trial='15']", state="detached")
    assert "at=9" in page.url
    page.reload()  # a link to that moment
    page.wait_for_selector("text=after event 9 of")
    page.click("text=Now")
    page.wait_for_selector("#trials tbody tr[data-trial='15']")


def test_a_running_study_is_live_and_a_restart_is_survived(page: Any, tmp_path: Path) -> None:
    storage = stored(tmp_path, "s", trials=2)
    kept = socket.socket()  # bound as long as the test lasts: nobody else takes the port while no server listens
    kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    kept.bind(("127.0.0.1", 0))
    port = kept.getsockname()[1]
    with Server(storage, port=port) as server:
        page.goto(f"{server.address}/study/s")
        page.wait_for_selector(".live.on")
        with xs.Study.open("s", storage) as study:
            trial = ask(study)
            page.wait_for_selector("#trials tr[data-trial='2'] .running")
            study.tell(trial, -5.0)
        page.wait_for_selector("dd >> text=-5")
    page.wait_for_selector(".live.off")
    with xs.Study.open("s", storage) as study:
        study.tell(study.ask(), -7.0)  # type: ignore[arg-type]
    with Server(storage, port=port):
        page.wait_for_selector("dd >> text=-7")
        page.wait_for_selector(".live.on")
        page.close()
    kept.close()
    page.wrong[:] = [text for text in page.wrong if "ERR_" not in text and "Failed to load" not in text]


def test_the_token_opens_the_page_and_writing(page: Any, tmp_path: Path) -> None:
    storage = stored(tmp_path, "s", trials=2)
    with Server(storage, token=TOKEN, write=True) as server:
        page.goto(f"{server.address}/study/s")
        page.wait_for_selector("#token")
        page.goto(f"{server.address}/login#{TOKEN}")
        page.wait_for_selector("text=1 in sqlite")
        assert TOKEN not in page.url
        assert page.evaluate("document.cookie") == ""
        page.goto(f"{server.address}/study/s/trial/0")
        page.fill("#note", "checked")
        page.fill("[aria-label='The note']", "by me")
        page.click("button >> text=Note")
        page.wait_for_selector("text=noted")
    with xs.Study.open("s", storage) as study:
        assert study.trials[0].attrs == {"checked": "by me"}


@pytest.mark.slow
def test_a_hundred_thousand_trials_filter_and_page(page: Any, tmp_path: Path) -> None:
    place = SqlStorage(tmp_path / "x.db")
    place.create("many", list(many().journal.read(0)))
    place.close()
    with Server(tmp_path / "x.db") as server:
        page.goto(f"{server.address}/study/many")
        page.wait_for_selector("text=of 100,000 trials")
        drawn(page, "history")
        page.fill("#filter", "x<0.001")
        page.wait_for_selector("text=/page 1 of [1-9] · /")
        assert page.locator("#trials tbody tr").count() == 50
        page.click("text=Next page")
        page.wait_for_selector("text=/page 2 of/")
        page.close()
