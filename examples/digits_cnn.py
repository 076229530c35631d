"""Hand-written digits: which convolutional network? An architecture is a parameter like any other.

python examples/digits_cnn.py [TRIALS]          # less than a minute; needs torch and scikit-learn

NASBOT proposes one network after the other: a Gaussian process over the distance between networks says which one to train
next. Each is trained for a few seconds. At the end the best one is trained three times more, tested on images that nobody has
seen, and drawn.
"""

import statistics
import sys

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import xstar as xs

try:
    import torch
    from torch.nn import functional
except ImportError:
    sys.exit("this example trains networks with torch: pip install 'xstar[torch]'")

EPOCHS, BATCH, RATE = 8, 64, 5e-3

images, labels = load_digits(return_X_y=True)  # 1797 images of 8×8 pixels; the data comes with scikit-learn
images, labels = torch.tensor(images / 16).float().reshape(-1, 1, 8, 8), torch.tensor(labels)
rest, test = train_test_split(range(len(labels)), test_size=0.25, random_state=0, stratify=labels)
train, valid = train_test_split(rest, test_size=1 / 3, random_state=0, stratify=labels[rest])

# At most 18 layers of 8 to 32 units: networks that one core trains in seconds.
space = xs.Space(net=xs.nets.CNN(image=8, channels=1, classes=10, max_layers=18, units=(8, 32)))
settings = {"metric": "error", "trials": 15, "method": "nasbot", "seed": 1}


def trained(net, seed):
    torch.manual_seed(seed)
    model = net.to_torch()  # what it returns are logarithms of probabilities
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    steps = EPOCHS * (len(train) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=steps)
    for _ in range(EPOCHS):
        order = torch.tensor(train)[torch.randperm(len(train))]
        for few in order[: len(train) // BATCH * BATCH].split(BATCH):
            optimizer.zero_grad()
            functional.nll_loss(model(images[few]), labels[few]).backward()
            optimizer.step()
            schedule.step()
    return model


def error(model, part):
    model.eval()
    with torch.no_grad():
        return (model(images[part]).argmax(1) != labels[part]).float().mean().item()


def objective(trial):
    return {"error": error(trained(trial["net"], seed=0), valid)}


if __name__ == "__main__":
    torch.set_num_threads(1)
    if len(sys.argv) > 1:
        settings["trials"] = int(sys.argv[1])
    result = xs.minimize(objective, space, **settings)
    best = result.best["net"]
    tested = [error(trained(best, seed), test) for seed in (1, 2, 3)]
    print(f"validation error {result.best.value:.2%} in trial {result.best.number}; {best}")
    print(f"test error {statistics.mean(tested):.2%}, the mean of three trainings")
    with open("digits_cnn.svg", "w", encoding="utf-8") as file:
        file.write(best.draw())
    print("drawn in digits_cnn.svg")
