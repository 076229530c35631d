"""The documentation is true: its Python runs, its links lead somewhere, the site builds without a warning."""

from __future__ import annotations

import ast
import importlib
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

import xstar as xs
from tests.modules import module_of
from xstar import errors
from xstar.study.methods import METHODS, choose

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]

OTHERS = ("-W", "ignore::FutureWarning:lightning.pytorch.utilities._pytree")
"""Warnings that are not ours: Lightning 2.6 uses a class of torch 2.13 in a way that is to end."""

FENCE = re.compile(r"^( *)(`{3,})(\S*)")
NOT_RUN = re.compile(r"<!-- not run: \S.*-->")
NEEDS = re.compile(r"<!-- not run: needs ([a-z]+) -->")  # run where the package is installed
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")

# The page's own lines at their own numbers, as the program __main__: tracebacks point into the page, and functions are
# sent to workers as those of a script are.
RUNNER = """
import pathlib, sys
page, source = sys.argv.pop(), pathlib.Path(sys.argv.pop()).read_text(encoding="utf-8")
exec(compile(source, page, "exec"), globals())
"""


@dataclass(frozen=True)
class Block:
    """A fenced block of a page: the number of its first line, its language, its lines."""

    line: int
    language: str
    text: list[str]
    skipped: bool


def not_run(line: str) -> bool:
    """Whether the line above a block keeps it from being run: for a reason, or for want of a package."""
    needs = NEEDS.fullmatch(line)
    return find_spec(needs[1]) is None if needs else NOT_RUN.fullmatch(line) is not None


def blocks_of(page: str) -> list[Block]:
    found: list[Block] = []
    lines = page.splitlines()
    number = 0
    while number < len(lines):
        opened = FENCE.match(lines[number])
        if opened:
            indent, ticks, language = opened.groups()
            skipped = number > 0 and not_run(lines[number - 1].strip())
            start = number + 1
            number = start
            while number < len(lines) and lines[number].strip() != ticks:
                number += 1
            text = [line.removeprefix(indent) for line in lines[start:number]]
            found.append(Block(start + 1, language, text, skipped))
        number += 1
    return found


def program_of(page: str) -> str:
    """The page with everything but its Python blocks left blank."""
    program = [""] * len(page.splitlines())
    for block in blocks_of(page):
        if block.language == "python" and not block.skipped:
            program[block.line - 1 : block.line - 1 + len(block.text)] = block.text
    return "\n".join(program) + "\n"


def without_blocks(page: str) -> str:
    lines = page.splitlines()
    for block in blocks_of(page):
        lines[block.line - 1 : block.line - 1 + len(block.text)] = [""] * len(block.text)
    return "\n".join(lines)


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def nav_files(entries: Any) -> list[str]:
    if isinstance(entries, str):
        return [entries]
    children = entries.values() if isinstance(entries, dict) else entries
    return [file for child in children for file in nav_files(child)]


def test_blocks_keep_their_line_numbers() -> None:
    page = "# A page\n\n```python\na = 1\n```\ntext\n<!-- not run: it waits -->\n```python\nb = 2\n```\n\n```text\nc\n```\n"
    assert program_of(page).splitlines() == ["", "", "", "a = 1", *[""] * 10]
    assert [(block.line, block.language, block.skipped) for block in blocks_of(page)] == [
        (4, "python", False),
        (9, "python", True),
        (13, "text", False),
    ]


@pytest.mark.parametrize("comment", ["<!-- not run: -->", "<!-- not run -->", "text"])
def test_a_block_is_skipped_for_a_reason_only(comment: str) -> None:
    assert "b = 2" in program_of(f"{comment}\n```python\nb = 2\n```\n")


def test_a_block_that_needs_a_package_runs_where_it_is_installed() -> None:
    page = "<!-- not run: needs {} -->\n```python\nb = 2\n```\n"
    assert "b = 2" in program_of(page.format("pytest"))
    assert "b = 2" not in program_of(page.format("nosuchpackage"))


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_python_of_a_page_runs(page: Path, tmp_path: Path) -> None:
    program = program_of(page.read_text(encoding="utf-8"))
    if not program.strip():
        return
    source = tmp_path / "page.txt"
    source.write_text(program, encoding="utf-8")
    folder = tmp_path / "here"
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, "-W", "error", *OTHERS, "-c", RUNNER, str(source), str(page)],
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1"},  # torch's threads spin while they wait
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    places = re.findall(rf'File "{re.escape(str(page))}", line (\d+)', done.stdout)
    where = f"{relative(page)}:{places[-1] if places else '?'}"
    assert done.returncode == 0, f"{where} does not run:\n{done.stdout[-3000:]}"


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_relative_links_lead_somewhere(page: Path) -> None:
    dead = []
    for number, line in enumerate(without_blocks(page.read_text(encoding="utf-8")).splitlines(), 1):
        for target in LINK.findall(re.sub(r"`[^`]*`", "", line)):
            file = target.partition("#")[0]
            if "://" not in target and file and not (page.parent / file).exists():
                dead.append(f"{relative(page)}:{number}: {target}")
    assert dead == []


def test_every_page_is_in_the_navigation() -> None:
    class Loader(yaml.SafeLoader):
        """Reads the file without importing what its tags name."""

    Loader.add_multi_constructor("tag:yaml.org,2002:python/", lambda loader, suffix, node: suffix)
    settings = yaml.load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"), Loader)
    pages = [*PAGES[1:], *DOCS.glob("*.ipynb")]
    assert sorted(nav_files(settings["nav"])) == sorted(page.relative_to(DOCS).as_posix() for page in pages)


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert (tmp_path / "site" / "index.html").is_file()


def test_the_tree_of_errors_is_that_of_the_code() -> None:
    def tree(text: str) -> list[str]:
        lines = (" ".join(line.split()) for line in text.splitlines())
        return [line for line in lines if line == "XstarError" or "── " in line]

    told = tree((DOCS / "errors.md").read_text(encoding="utf-8"))
    assert told == tree(errors.__doc__ or "")
    own = {name for name, value in vars(errors).items() if isinstance(value, type) and issubclass(value, BaseException)}
    assert {re.sub(r"^[│├└─ ]+", "", line).split()[0] for line in told} == own


def test_the_page_of_methods_names_all_of_them_and_no_others() -> None:
    page = (DOCS / "which-method.md").read_text(encoding="utf-8")
    table = page[: page.index("## Every case")]
    named = set(re.findall(r"`([a-z-]+)`", table)) - {"method"}
    assert named <= METHODS.keys()
    others = (DOCS / "other-methods.md").read_text(encoding="utf-8")  # the names of MOBSTER's tables
    assert [name for name in METHODS if f"`{name}`" not in page + others] == []


def test_the_table_of_methods_says_what_is_chosen() -> None:
    """The bold names of the first table are those of `choose`."""
    lines = (DOCS / "which-method.md").read_text(encoding="utf-8").partition("## Every case")[0].splitlines()
    numbers = xs.Space(x=xs.Float(0, 1))
    spaces = {
        "anything else": numbers,
        "an [arch": xs.Space(net=xs.nets.MLP(inputs=4)),
        "there are 50 or more": xs.Space(b=xs.Bits(50)),
    }
    for start, space in spaces.items():
        (row,) = (line for line in lines if line.startswith(f"| {start}"))
        with_epochs, without = row.split("|")[2:4]
        for cell, budget in ((with_epochs, 9), (without, None)):
            assert re.findall(r"\*\*\[?`([a-z-]+)`", cell) == [choose(space, budget)[0]]


def test_the_readme_says_how_to_test() -> None:
    consoles = [
        block.text
        for block in blocks_of((ROOT / "README.md").read_text(encoding="utf-8"))
        if block.language == "console"
    ]
    assert ["$ make test"] in consoles


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 120


@pytest.mark.parametrize("wanted", ["pareto", "early stopping", "resum", "GPU", "Slurm"])
def test_a_search_finds_a_page(wanted: str) -> None:
    """A heading has the word, or the page that says it is not there yet."""
    headings = [line for page in PAGES[1:] for line in page.read_text(encoding="utf-8").splitlines() if line[:1] == "#"]
    assert [line for line in headings if wanted.lower() in line.lower()] != []


def test_the_picture_of_the_peers_is_that_of_the_records() -> None:
    module = made_by("make_peers")
    assert (DOCS / "assets" / "peers.svg").read_text(encoding="utf-8") == module.draw(), "run docs/assets/make_peers.py"


@pytest.mark.parametrize("file", ["anytime.svg", "anytime-weak.svg"])
def test_the_anytime_curves_are_those_of_the_records(file: str) -> None:
    drawn = made_by("make_anytime").pictures()[file]
    assert (DOCS / "assets" / file).read_text(encoding="utf-8") == drawn, "run docs/assets/make_anytime.py"


def test_the_first_page_begins_as_the_readme_does() -> None:
    module = module_of(ROOT / "tools" / "home_page.py")
    page, readme = (path.read_text(encoding="utf-8") for path in (module.PAGE, module.README))
    assert module.rewritten(page, readme) == page, "run: python tools/home_page.py"


def made_by(script: str) -> Any:
    """A script that makes pictures, as a module."""
    return module_of(DOCS / "assets" / f"{script}.py")


def test_the_picture_of_the_parts_is_that_of_the_contract() -> None:
    module = made_by("make_layers")
    assert (DOCS / "assets" / "layers.svg").read_text() == module.draw(module.layers())


SHELVES = ("nets", "searchers", "schedulers", "run", "igo", "registry", "testing")


def public_names() -> set[str]:
    """What the reference owes its reader: the shelf, what its modules put on theirs, and every error."""
    names = {f"xstar.{name}" for name in xs.__all__ if not isinstance(getattr(xs, name), ModuleType)}
    for shelf in SHELVES:
        module = getattr(xs, shelf)
        tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
        aliases = (alias for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names)
        defined = (node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name[0] != "_")
        names |= {f"xstar.{shelf}.{alias.name}" for alias in aliases if alias.asname == alias.name}
        names |= {f"xstar.{shelf}.{name}" for name in defined}
    own = {name for name, value in vars(errors).items() if isinstance(value, type) and issubclass(value, Exception)}
    return names | {f"xstar.errors.{name}" for name in own - set(xs.__all__)}


DEFINES = (ast.ClassDef, ast.FunctionDef)


def test_the_reference_has_every_public_name() -> None:
    files = [DOCS / "errors.md", *sorted((DOCS / "reference").glob("*.md"))]
    pages = (page.read_text(encoding="utf-8") for page in files)
    there = [name for page in pages for name in re.findall(r"^::: (\S+)$", page, re.MULTILINE)]
    assert len(there) == len(set(there))
    assert public_names() - set(there) == set()
    for name in set(there) - public_names():  # more than is owed, but nothing that is not there
        module, _, attribute = name.rpartition(".")
        try:
            found = importlib.import_module(module)
            assert hasattr(found, attribute) or find_spec(name), name
        except errors.MissingExtra:  # the library that it is for is not here: then its source has to do
            source = Path(xs.__file__).parent.joinpath(*module.split(".")[1:]).with_suffix(".py")
            made = (node for node in ast.parse(source.read_text(encoding="utf-8")).body if isinstance(node, DEFINES))
            assert attribute in {node.name for node in made}, name


def test_the_shelves_are_those_of_the_package() -> None:
    modules = {name for name in xs.__all__ if isinstance(getattr(xs, name), ModuleType)}
    assert modules == {*SHELVES, "errors"}


def test_the_reference_is_written_in_markdown() -> None:
    module = module_of(ROOT / "tools" / "reference_text.py")
    text = "As :class:`~xstar.api.Result`.\n\n>>> 1 + 1\n2\n>>> 3\n3\n\nMore."
    assert module.markdown(text) == "As `Result`.\n\n```pycon\n>>> 1 + 1\n2\n>>> 3\n3\n```\n\nMore."
