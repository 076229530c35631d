"""The release: what its metadata say, and that the wheel and the source distribution work where nothing else is installed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml

import xstar as xs
from tests.servers import own_server
from tests.test_docs import program_of

ROOT = Path(__file__).parents[1]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
FOR_USERS = sorted(set(EXTRAS) - {"all", "dev", "integrations"})


def name_of(requirement: str) -> str:
    return re.split(r"[\[<>=!~; ]", requirement)[0]


def test_one_version_everywhere() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    (section,) = re.findall(r"^## (\S+), (\S+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert {PROJECT["version"], citation["version"], section[0]} == {xs.__version__}
    assert section[1] == citation["date-released"]


@pytest.mark.parametrize("extra", FOR_USERS)
def test_every_extra_is_told_of_and_used(extra: str) -> None:
    pages = "\n".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs").rglob("*.md"))
    assert re.search(rf"pip install '\.\[[a-z,]*\b{extra}\b[a-z,]*\]'", pages)
    imported = {name_of(each).replace("-", "_") for each in EXTRAS[extra]}
    sources = "\n".join(source.read_text(encoding="utf-8") for source in (ROOT / "src").rglob("*.py"))
    assert {
        name for name in imported if not re.search(rf'^\s*(import|from) {name}\b|"{name}"', sources, re.MULTILINE)
    } == set()


def test_no_message_names_an_index_that_has_no_xstar() -> None:
    texts = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "src").rglob("*.py")]
    assert [path for path in texts if re.search(r"pip install '?xstar", path.read_text(encoding="utf-8"))] == []


def test_the_workflow_runs_every_python_that_the_metadata_name() -> None:
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))["jobs"]
    named = [line.rpartition(" ")[2] for line in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", line)]
    assert jobs["test"]["strategy"]["matrix"]["python"] == named
    assert {"run": ".ci/run"} in jobs["test"]["steps"]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for case in jobs["versions"]["strategy"]["matrix"]["include"]:
        assert re.search(rf"^{case['target']}:", makefile, re.MULTILINE)


# ---------------------------------------------------------------- in an environment of its own

SEARCH = "import xstar as xs; xs.minimize(lambda t: t['x'], xs.Space(x=xs.Float(0, 1)), trials=9, "

SMOKES = {
    "plots": "import xstar as xs; assert xs.Study.open('first', 'xstar.db').plot.history().data",
    "pandas": "import xstar as xs; assert len(xs.Study.open('first', 'xstar.db').to_frame()) == 40",
    "cma": SEARCH + "method='cma')",
    "postgres": SEARCH + "study='kept', storage={url!r})",
    "dashboard": "import fastapi, plotly, uvicorn; from xstar.look.dashboard import app, server",
    "mcp": "from xstar.cli.serve import mcp_server; assert mcp_server('xstar.db', 'me')",
}
"""What each extra is for, on the study that the README's example leaves. torch and ray have environments of their own."""


class Clean:
    """A virtual environment, in which pip may do what it likes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bin = folder / "venv" / "bin"
        self("-m", "venv", str(folder / "venv"), program=sys.executable)

    def __call__(self, *words: str, program: str | None = None) -> str:
        environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
        done = subprocess.run(
            [program or str(self.bin / "python"), *words],
            cwd=self.folder,
            env={**environment, "OMP_NUM_THREADS": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{words}\n{done.stdout[-3000:]}"
        return done.stdout

    def xstar(self, *words: str) -> str:
        return self(*words, program=str(self.bin / "xstar"))

    def install(self, what: str) -> None:
        self("-m", "pip", "install", "-q", what)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The wheel, made from the source distribution as ``build`` does it, and that distribution."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    (wheel,), (source,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, source


@pytest.fixture(scope="module")
def clean(built: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Clean:
    """The wheel installed, and the README's example run."""
    made = Clean(tmp_path_factory.mktemp("clean"))
    made.install(str(built[0]))
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    (made.folder / "first.py").write_text(program_of(page), encoding="utf-8")
    made("first.py")
    return made


@pytest.mark.slow
def test_the_distributions_hold_the_package_and_nothing_else(built: tuple[Path, Path]) -> None:
    wheel, source = built
    inside = zipfile.ZipFile(wheel).namelist()
    assert {name.partition("/")[0] for name in inside} == {
        "xstar",
        "hydra_plugins",
        f"xstar-{xs.__version__}.dist-info",
    }
    assert "xstar/py.typed" in inside
    with tarfile.open(source) as archive:
        second = {name.split("/")[1] for name in archive.getnames()}
    assert {"src", "pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff"} <= second
    assert second & {"tests", "benchmarks", "docs", "examples"} == set()


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_the_wheel_works_where_nothing_else_is(clean: Clean) -> None:
    installed = clean("-m", "pip", "list", "--format=freeze").split()
    assert {name.partition("==")[0].lower() for name in installed} & {"pytest", "plotly", "pandas", "torch"} == set()
    assert clean.xstar("--version") == f"xstar {xs.__version__}\n"
    assert "40 complete" in clean.xstar("show", "first")
    assert '"lr"' in clean.xstar("best", "first", "--json")
    clean.xstar("audit", "first")
    assert clean.xstar("cite", "first").startswith("@software{xstar,")
    (clean.folder / "search.py").write_text(
        "import xstar as xs\nspace = xs.Space(x=xs.Float(0, 1))\ndef train(trial):\n    return trial['x']\n",
        encoding="utf-8",
    )
    assert "6 complete" in clean.xstar("run", "search.py", "--trials", "6", "--study", "again", "--workers", "2")
    for name in ("plots", "pandas", "cma", "postgres", "mcp"):
        with pytest.raises(AssertionError, match=rf"pip install '\.\[{name}\]'"):
            clean("-c", SMOKES[name].replace("{url!r}", "'postgresql://nobody@127.0.0.1/none'"))


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_each_extra_does_what_it_is_for(clean: Clean, built: tuple[Path, Path]) -> None:
    """One after the other in the same environment: what is installed for one extra does not break another."""
    with own_server() as postgres:
        for extra, smoke in SMOKES.items():
            clean.install(f"{built[0]}[{extra}]")
            clean("-c", smoke.replace("{url!r}", repr(postgres.get_uri())))
    clean("-m", "pip", "check")


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_the_source_distribution_installs(built: tuple[Path, Path], tmp_path: Path) -> None:
    clean = Clean(tmp_path)
    clean.install(str(built[1]))
    assert clean.xstar("--version") == f"xstar {xs.__version__}\n"
