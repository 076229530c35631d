"""Prints the headline ratios, each beside its peer in the same run: ``python -m benchmarks.quick [--only gp,mobster]``."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

from benchmarks.harness import machine
from benchmarks.harness.experiment import chosen_from


def main(argv: Sequence[str] | None = None) -> None:
    machine.one_thread()  # before NumPy is loaded
    from benchmarks.quick.headlines import MEASURES, Sizes, there

    parser = argparse.ArgumentParser(prog="python -m benchmarks.quick", description=__doc__)
    parser.add_argument("--only", default=",".join(MEASURES), help=f"some of {','.join(MEASURES)}")
    chosen = chosen_from(parser.parse_args(argv).only, MEASURES, "--only")
    print(machine.describe([machine.provenance(("optuna", "torch", "POT"))]).replace("Runs of commit", "Commit"))
    for peer in ("optuna-tpe", "optuna-gp"):
        if not there(peer):
            print(f"{peer} cannot run here and is left out: `make bench-peers` makes an environment with all peers.")
    print(f"\n{'':<64} {'xstar':>12}   {'peer':<34} {'better by':>9}")
    begun = time.perf_counter()
    for name in chosen:
        for headline in MEASURES[name](Sizes()):
            print(headline, flush=True)
    print(f"\n{time.perf_counter() - begun:.0f} s. The benchmarks behind these figures: benchmarks/README.md.")


if __name__ == "__main__":
    main()
