"""Makes docs/results.md and docs/findings.md from the records: ``python -m benchmarks.papers [--write]``, else prints them."""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from benchmarks.papers import drawings, findings, page
from benchmarks.papers.sources import ASSETS, DOCS


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.papers", description=__doc__)
    parser.add_argument(
        "--write", action="store_true", help="into docs/results.md and docs/findings.md, with their pictures"
    )
    if not parser.parse_args().write:
        print(page.text(), findings.text(), sep="\n", end="")
        return
    folder = DOCS / ASSETS
    folder.mkdir(parents=True, exist_ok=True)
    for picture in {name for paper in page.PAPERS for name in paper.shown()}:
        shutil.copyfile(picture, folder / Path(picture).name)
    for name, svg in drawings.all_of_them().items():
        (folder / name).write_text(svg, encoding="utf-8")
    (DOCS / "results.md").write_text(page.text(), encoding="utf-8")
    (DOCS / "findings.md").write_text(findings.text(), encoding="utf-8")


if __name__ == "__main__":
    main()
