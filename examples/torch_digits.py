"""A torch network, trained epoch by epoch, with checkpoints and early stopping.

python examples/torch_digits.py [TRIALS]        # less than a minute; needs torch and scikit-learn
"""

import sys

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import xstar as xs

try:
    import torch
    from torch import nn
except ImportError:
    sys.exit("this example trains networks with torch: pip install 'xstar[torch]'")

images, labels = load_digits(return_X_y=True)  # 1797 images of 8×8 pixels; the data comes with scikit-learn
parts = train_test_split(images / 16, labels, test_size=0.3, random_state=0)
x_train, x_valid, y_train, y_valid = (torch.tensor(part) for part in parts)
x_train, x_valid = x_train.float(), x_valid.float()

space = xs.Space(
    lr=xs.Float(1e-4, 1e-1, log=True),
    units=xs.Int(8, 128, log=True),
    dropout=xs.Float(0.0, 0.5),
    batch=xs.Ordinal([16, 32, 64, 128]),
)


def train(trial):
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Linear(64, trial["units"]), nn.ReLU(), nn.Dropout(trial["dropout"]), nn.Linear(trial["units"], 10)
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=trial["lr"])
    if (state := trial.load()) is not None:  # paused, or interrupted, and now to go on
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
    for _ in trial.epochs():
        model.train()
        for batch in torch.randperm(len(x_train)).split(trial["batch"]):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x_train[batch]), y_train[batch]).backward()
            optimizer.step()
        trial.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()})
        model.eval()
        with torch.no_grad():
            trial.report((model(x_valid).argmax(1) != y_valid).float().mean().item())


if __name__ == "__main__":
    torch.set_num_threads(1)
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else 25
    result = xs.minimize(train, space, max_budget=9, trials=trials, seed=1)
    print(f"error {result.value:.4f} with {result.config}")
    print(f"{sum(trial.budget for trial in result.study.trials)} epochs instead of {9 * trials}")
    weights = result.load()["model"]
    print(f"its {sum(weight.numel() for weight in weights.values())} weights are in {result.checkpoint}")
