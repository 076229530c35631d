"""The house rules that no linter knows: what `import xstar` costs, and who may ask for the time."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import xstar

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "xstar"
SOURCES = sorted(PACKAGE.rglob("*.py"))

# Extras, peers and the command line: loaded at use, so that `import xstar` stays quick.
HEAVY = {"cmaes", "fastapi", "kaleido", "optuna", "pandas", "plotly", "psycopg", "ray", "sklearn", "sqlite3"}
HEAVY |= {"IPython", "rich", "torch", "typer", "uvicorn"}
HEAVY |= {
    *("hydra", "joblib", "keras", "lightgbm", "lightning", "mlflow", "tensorboardX", "transformers"),
    *("wandb", "xgboost"),
}

CLOCKS = {
    "time": {
        *("time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns"),
        *("process_time", "process_time_ns"),
    },
    "datetime.datetime": {"now", "utcnow", "today"},
    "datetime.date": {"today"},
}

# What may be named of numpy.random: seeded generators and what they are made of. The rest draws from a global.
SEEDED = {"BitGenerator", "Generator", "PCG64", "PCG64DXSM", "Philox", "SFC64", "SeedSequence", "default_rng"}

UNSEEDED = {"SeedSequence", "default_rng"}
"""What draws its seed itself where it is called without arguments."""


def full_names(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield (line, dotted name) of every imported name and of every attribute chain that starts at an import."""
    imported: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                first = alias.name.partition(".")[0]
                imported[alias.asname or first] = alias.name if alias.asname else first
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                imported[alias.asname or alias.name] = f"{node.module}.{alias.name}"
                yield node.lineno, f"{node.module}.{alias.name}"
    for node in ast.walk(tree):
        chain: list[str] = []
        end: ast.expr | None = node if isinstance(node, ast.Attribute) else None
        while isinstance(end, ast.Attribute):
            chain.append(end.attr)
            end = end.value
        if isinstance(end, ast.Name) and end.id in imported:
            yield end.lineno, ".".join([imported[end.id], *reversed(chain)])


def clock_uses(code: str) -> list[str]:
    clocks = {f"{module}.{name}" for module, names in CLOCKS.items() for name in names}
    return sorted({f"line {line}: {name}" for line, name in full_names(ast.parse(code)) if name in clocks})


def global_random_uses(code: str) -> list[str]:
    found = set()
    tree = ast.parse(code)
    for line, name in full_names(tree):
        parts = name.split(".")
        of_numpy = parts[:2] == ["numpy", "random"] and len(parts) > 2 and parts[2] not in SEEDED
        of_python = parts[0] == "random" and len(parts) > 1 and parts[1] != "Random"
        if of_numpy or of_python:
            found.add(f"line {line}: {name}")
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and not node.args and not node.keywords:
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in UNSEEDED:
                found.add(f"line {node.lineno}: {called} without a seed")
    return sorted(found)


SEEN_AS_CLOCKS = (
    *("import time\ntime.time()", "import time as t\nt.perf_counter()"),
    *("from time import monotonic\nmonotonic()", "import time\nclock = time.monotonic_ns"),
    "import datetime\ndatetime.datetime.now()",
    *(
        "from datetime import datetime as dt\ndt.now(None)",
        "def f():\n    from datetime import date\n    return date.today()",
    ),
)
NOT_SEEN_AS_CLOCKS = (
    "import time\ntime.sleep(1)",
    "from datetime import datetime\ndatetime.fromtimestamp(0)",
    "def f(executor):\n    return executor.time() + executor.now",
)
SEEN_AS_GLOBAL = (
    *("import numpy as np\nnp.random.rand()", "import numpy as np\nnp.random.seed(1)"),
    *("import numpy as np\nnp.random.default_rng()", "from numpy import random\nrandom.normal()"),
    "from numpy.random import shuffle",
    *("import numpy.random as npr\nnpr.uniform()", "import random\nrandom.shuffle([])"),
)
NOT_SEEN_AS_GLOBAL = (
    "import numpy as np\nnp.random.default_rng(1).normal()",
    "import numpy as np\ndef f(rng: np.random.Generator) -> float:\n    return rng.random()",
    "from numpy.random import Generator, SeedSequence",
)


def test_the_checks_see_clocks_and_global_randomness_and_nothing_else() -> None:
    assert [code for code in SEEN_AS_CLOCKS if not clock_uses(code)] == []
    assert [code for code in NOT_SEEN_AS_CLOCKS if clock_uses(code)] == []
    assert [code for code in SEEN_AS_GLOBAL if not global_random_uses(code)] == []
    assert [code for code in NOT_SEEN_AS_GLOBAL if global_random_uses(code)] == []


def test_randomness_has_no_global_address() -> None:
    """Neither in the package nor in its tests, whose numbers would be others every time."""
    files = [*SOURCES, *sorted((ROOT / "tests").rglob("*.py"))]
    naming = {path: text for path in files if "rand" in (text := path.read_text("utf-8"))}
    assert {path: uses for path, text in naming.items() if (uses := global_random_uses(text))} == {}


def test_one_file_asks_for_the_time() -> None:
    # Two are programs that import nothing of ours: one never imported, one pickled by value.
    own = ("core/clock.py", "storage/renewer.py", "run/ray/relay.py")
    others = [path for path in SOURCES if path.relative_to(PACKAGE).as_posix() not in own]
    naming = {path: text for path in others if "time" in (text := path.read_text("utf-8"))}
    assert {path: uses for path, text in naming.items() if (uses := clock_uses(text))} == {}


def test_import_pulls_in_no_extra() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import sys, xstar; print(*sys.modules)"], capture_output=True, text=True, check=True
    )
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert "xstar" in loaded
    assert loaded & (HEAVY | {"numpy", "scipy"}) == set()


def test_the_program_says_its_version_without_loading_the_commands() -> None:
    code = (
        "import sys; sys.argv = ['xstar', '--version']; from xstar.cli.entry import main; main(); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    said, loaded = done.stdout.splitlines()
    assert said == f"xstar {xstar.__version__}"
    assert not {"numpy", "rich", "typer", "sqlite3", "xstar.api"} & set(loaded.split())


def test_the_program_runs_the_commands() -> None:
    code = "import sys; sys.argv = ['xstar', 'studies', '--help']; from xstar.cli.entry import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "List the studies" in done.stdout


def test_the_commands_load_no_statistics() -> None:
    code = "import sys, xstar.cli.main; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"scipy.stats", "scipy.optimize"} & set(done.stdout.split())


def test_the_shelf_that_is_typed_is_the_shelf_that_is_loaded() -> None:
    """Names are loaded at use; what type checkers read beside them must be the same list."""
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If) and isinstance(node.test, ast.Name))
    typed = {
        alias.name: f"{node.module}.{alias.name}"
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert sorted(typed) == sorted(xstar.__all__)
    for name, home in typed.items():
        module, _, attribute = home.rpartition(".")
        assert getattr(xstar, name) is getattr(importlib.import_module(module), attribute)
    assert set(xstar.__all__) <= set(dir(xstar))
    with pytest.raises(AttributeError, match="no attribute 'minimise'"):
        getattr(xstar, "minimise")  # noqa: B009


LAZY = {"__init__.py", "core/compiled.py"}
"""The package itself, which loads its parts at use, and packages of somebody else's."""


ADAPTED = ("accelerate", "keras", "lightning", "mlflow", "torch", "transformers", "wandb")
"""What the extra ``integrations`` installs for tests, which skip where it is missing."""


def test_what_skips_for_a_heavy_package_is_run_by_make_test_integrations() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
    named = next(line for line in makefile.splitlines() if line.startswith("INTEGRATIONS :=")).split()[2:]
    assert all((ROOT / path).exists() for path in named), named
    skipping = [
        path.relative_to(ROOT)
        for path in sorted((ROOT / "tests").rglob("*.py"))
        if any(f'importorskip("{package}' in path.read_text(encoding="utf-8") for package in ADAPTED)
    ]
    assert len(skipping) > 8
    assert [path for path in skipping if not any(path.is_relative_to(each) for each in named)] == []


def test_no_part_is_reached_by_its_name_as_text() -> None:
    """The contract of the import-linter cannot see such an import."""
    found = {
        str(source.relative_to(PACKAGE))
        for source in SOURCES
        for _, name in full_names(ast.parse(source.read_text()))
        if name in ("importlib.import_module", "builtins.__import__")
    }
    assert found == LAZY
