"""Runs the tests that another package brings along, in a process and with a configuration of their own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parents[2]


def run(module: str, plugin: str, folder: Path) -> tuple[set[str], set[str]]:
    """The tests of a module that passed and those that failed; ``plugin`` is a module of ours that pytest loads before."""
    report, config = folder / "report.xml", folder / "pytest.ini"
    config.write_text("[pytest]\n")
    options = f"-c {config} --rootdir={folder} --junitxml={report} -p {plugin} -p no:cacheprovider -q".split()
    command = [sys.executable, "-m", "pytest", *options, "--pyargs", module]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    cases = [(case.get("name", ""), {each.tag for each in case}) for case in ElementTree.parse(report).iter("testcase")]
    failed = {name for name, tags in cases if tags & {"failure", "error"}}
    return {name for name, tags in cases if not tags & {"failure", "error", "skipped"}}, failed
