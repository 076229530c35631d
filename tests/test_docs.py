"""The documentation is true: its Python runs, its links lead somewhere, the site builds without a warning."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from xstar import errors

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]

SECONDS = 50
"""A page that takes longer is an example for `examples/`, not for a page."""

FENCE = re.compile(r"^( *)(`{3,})(\S*)")
NOT_RUN = re.compile(r"<!-- not run: \S.*-->")
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


def blocks_of(page: str) -> list[Block]:
    found: list[Block] = []
    lines = page.splitlines()
    number = 0
    while number < len(lines):
        opened = FENCE.match(lines[number])
        if opened:
            indent, ticks, language = opened.groups()
            skipped = number > 0 and NOT_RUN.fullmatch(lines[number - 1].strip()) is not None
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
        [sys.executable, "-W", "error", "-c", RUNNER, str(source), str(page)],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS,
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
    assert sorted(nav_files(settings["nav"])) == sorted(page.relative_to(DOCS).as_posix() for page in PAGES[1:])


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")],
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


def test_the_readme_says_how_to_test() -> None:
    consoles = [
        block.text
        for block in blocks_of((ROOT / "README.md").read_text(encoding="utf-8"))
        if block.language == "console"
    ]
    assert ["$ make test"] in consoles


def test_the_picture_of_the_parts_is_that_of_the_contract() -> None:
    spec = importlib.util.spec_from_file_location("make_layers", DOCS / "assets" / "make_layers.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (DOCS / "assets" / "layers.svg").read_text() == module.draw(module.layers())
