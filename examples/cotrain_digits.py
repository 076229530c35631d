"""Weights and structure at once: which of 15 layers does a network for hand-written digits need?

python examples/cotrain_digits.py [STEPS]       # less than a minute; needs torch and scikit-learn

A small form of the paper's layer selection: after the first layer come 15 more, each of them can be skipped. Two structures are
drawn for each mini-batch, both go through the network as one batch, and both the weights and the probabilities take a step.
"""

import sys

import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

from xstar.igo.cotrain import CoTraining

LAYERS, UNITS = 15, 64


class Net(nn.Module):
    structure_per_example = True  # structure: one row of bits for each example

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(64, UNITS)
        self.layers = nn.ModuleList(nn.Linear(UNITS, UNITS) for _ in range(LAYERS))
        self.last = nn.Linear(UNITS, 10)

    def forward(self, inputs, structure):
        h = torch.relu(self.first(inputs))
        for layer, on in zip(self.layers, structure.unsqueeze(-1).unbind(1), strict=True):
            h = h + on * torch.relu(layer(h))
        return self.last(h)


def error(outputs, targets):
    return (outputs.argmax(1) != targets).float().mean()


def main(steps):
    images, labels = load_digits(return_X_y=True)  # 1797 images of 8×8 pixels; the data comes with scikit-learn
    parts = train_test_split(images / 16, labels, test_size=0.3, random_state=0, stratify=labels)
    x_train, x_test, y_train, y_test = (torch.tensor(part) for part in parts)
    train = TensorDataset(x_train.float(), y_train)
    test = [(x_test.float(), y_test)]
    for method in ("cga", "pbil-lambda", "pbil-epsilon"):
        torch.manual_seed(1)
        training = CoTraining(
            Net(),
            functional.cross_entropy,
            lambda weights: torch.optim.SGD(weights, lr=0.02, momentum=0.9, nesterov=True, weight_decay=1e-4),
            structure=LAYERS,
            method=method,
            schedule=lambda optimizer: torch.optim.lr_scheduler.MultiStepLR(optimizer, [steps // 2, steps * 3 // 4]),
            clip=2.0,
            seed=1,
        )
        for progress in training.train(DataLoader(train, batch_size=64, shuffle=True), steps=steps, every=steps // 5):
            wrong = 100 * training.evaluate(test, error)
            print(f"{method:12} step {progress.step:4}  loss {progress.loss:7.3f}  test error {wrong:5.2f} %")
        bits = "".join(str(int(bit)) for bit in training.structure())
        sure = abs(progress.theta - 0.5).mean() + 0.5
        print(f"{method:12} layers {bits}, θ decided to {sure:.0%}\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
