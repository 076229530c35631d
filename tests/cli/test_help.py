"""The help pages: the documentation shows what the commands say."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from typer.main import get_command

from tests.cli.conftest import Cli
from tests.modules import module_of
from xstar.cli.main import app
from xstar.core.version import VERSION

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def reference() -> ModuleType:
    made: ModuleType = module_of(ROOT / "tools" / "cli_reference.py")
    return made


def test_every_command_has_its_help_on_the_page(reference: ModuleType) -> None:
    text = (ROOT / "docs" / reference.PAGE).read_text(encoding="utf-8")
    found = reference.pages()
    filled = reference.filled(text, found)
    assert [command for command, page in found.items() if f"    {page.splitlines()[-1]}" not in filled] == []
    assert "Usage: xstar run" in filled


def test_every_option_is_explained() -> None:
    for command in get_command(app).commands.values():  # type: ignore[attr-defined]
        assert command.help, command.name
        for parameter in command.params:
            assert parameter.help, f"{command.name}: {parameter.name}"


def shown() -> list[tuple[str, list[str]]]:
    """The calls of xstar in the console blocks of the README and of docs/, and in the Makefile, as (page, words)."""
    found = []
    for page in (ROOT / "README.md", ROOT / "Makefile", *sorted((ROOT / "docs").rglob("*.md"))):
        text = page.read_text(encoding="utf-8").replace("\\\n", " ")
        for line in re.findall(r"^(?: *\$ |\t\$\(DEMO\)/bin/)xstar (.+)$", text, re.MULTILINE):
            words = shlex.split(line, comments=True)
            end = next((at for at, word in enumerate(words) if word in {">", "|", "&", "&&"}), len(words))
            found.append((page.relative_to(ROOT).as_posix(), words[:end]))
    return found


@pytest.mark.parametrize(("page", "words"), shown(), ids=lambda part: part if isinstance(part, str) else " ".join(part))
def test_calls_in_the_documentation_have_what_their_command_needs(page: str, words: list[str]) -> None:
    name, *rest = words
    if name.startswith("-") or "--help" in rest:
        return  # compared word by word above
    command = get_command(app).commands[name]  # type: ignore[attr-defined]
    command.make_context(name, rest)  # parses, and runs nothing


def test_version_and_bare_call(cli: Cli) -> None:
    assert cli("--version").output == f"xstar {VERSION}\n"
    assert "Usage" in cli(code=2).output
    assert "Usage" in cli("run", "-h").output


@pytest.mark.parametrize(
    ("words", "said"), [(["--version"], f"xstar {VERSION}"), (["show", "-h"], "python -m xstar show")]
)
def test_the_package_is_the_program(words: list[str], said: str) -> None:
    done = subprocess.run([sys.executable, "-m", "xstar", *words], capture_output=True, text=True, check=True)
    assert said in done.stdout
