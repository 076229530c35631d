"""A search of architectures without any training: one of the functions that the NASBOT paper tests with, and a drawing.

python examples/architecture.py [TRIALS]        # about half a minute; writes architecture.svg
"""

import sys

import xstar as xs
from xstar.nets.synthetic import f3

space = xs.Space(net=xs.nets.MLP(inputs=16, outputs=1, max_layers=20, units=(8, 256)))


def score(trial):
    return f3(trial["net"])  # digits_cnn.py trains trial["net"].to_torch() instead


if __name__ == "__main__":
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    result = xs.maximize(score, space, method="nasbot", trials=trials, seed=1)
    best = result.config["net"]
    first = result.study.trials[0]
    print(f"score {result.value:.3f} in trial {result.best.number}; the first network has {first.value:.3f}")
    print(f"{best}; distance from the first: {xs.nets.otmann(best, first['net'], normalised=True):.3f}")
    with open("architecture.svg", "w", encoding="utf-8") as file:
        file.write(best.draw())
    print("drawn in architecture.svg")
