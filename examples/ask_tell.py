"""Your own loop: ask for trials, run them as you like, tell their values. Here four at a time, in threads.

python examples/ask_tell.py [TRIALS]            # a few seconds
"""

import math
import sys
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

import xstar as xs

space = xs.Space(lr=xs.Float(1e-5, 1.0, log=True), layers=xs.Int(1, 8))


def experiment(config):
    """What you already have: a call to a laboratory, a queue, a simulator."""
    return math.log10(config["lr"] / 0.01) ** 2 + 0.1 * (config["layers"] - 3) ** 2


def main(trials):
    study = xs.Study(space, seed=1)
    study.add({"lr": 0.5, "layers": 8}, experiment({"lr": 0.5, "layers": 8}))  # known before
    study.enqueue({"layers": 3})  # to be tried first; the rate is chosen for it
    with ThreadPoolExecutor(4) as pool:
        running = {}
        begun = 0
        while begun < trials or running:
            while begun < trials and len(running) < 4:
                trial = study.ask()
                running[pool.submit(experiment, trial.config)] = trial
                begun += 1
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                trial = running.pop(future)
                if future.exception() is None:
                    study.tell(trial, future.result())
                else:
                    study.fail(trial, str(future.exception()))
    return study


if __name__ == "__main__":
    study = main(int(sys.argv[1]) if len(sys.argv) > 1 else 40)
    print(f"best {study.best.value:.5f} with {study.best.config}")
    print(f"{len(study.trials)} trials, the first of them {study.trials[0].origin}")
