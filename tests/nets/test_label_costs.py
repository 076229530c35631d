"""The costs of matching labels against the tables of A.3."""

from __future__ import annotations

import numpy as np

from xstar.nets.labels import cost


def test_the_label_costs_are_tables_4_and_5() -> None:
    """Entry by entry, with what A.3 says of residual layers; a blank is ∞."""
    table_4 = """
             c3   c5   c7   mp   ap   fc  sm
        c3   0    0.2  0.3  -    -    -   -
        c5   0.2  0    0.2  -    -    -   -
        c7   0.3  0.2  0    -    -    -   -
        mp   -    -    -    0    0.25 -   -
        ap   -    -    -    0.25 0    -   -
        fc   -    -    -    -    -    0   -
        sm   -    -    -    -    -    -   0
    """
    table_5 = """
             re   cr   lr   so   el   lg   ta   lin
        re   0    .1   .1   .1   .1   .25  .25  -
        cr   .1   0    .1   .1   .1   .25  .25  -
        lr   .1   .1   0    .1   .1   .25  .25  -
        so   .1   .1   .1   0    .1   .25  .25  -
        el   .1   .1   .1   .1   0    .25  .25  -
        lg   .25  .25  .25  .25  .25  0    .1   -
        ta   .25  .25  .25  .25  .25  .1   0    -
        lin  -    -    -    -    -    -    -    0
    """
    names = {
        "c3": "conv3",
        "c5": "conv5",
        "c7": "conv7",
        "mp": "max-pool",
        "ap": "avg-pool",
        "fc": "fc",
        "sm": "softmax",
    }
    names |= {"re": "relu", "cr": "crelu", "lr": "leaky-relu", "so": "softplus", "el": "elu"}
    names |= {"lg": "logistic", "ta": "tanh", "lin": "linear"}
    checked = 0
    for text in (table_4, table_5):
        heads, *rows = (line.split() for line in text.strip().splitlines())
        for row, *entries in rows:
            for column, entry in zip(heads, entries, strict=True):
                value = np.inf if entry == "-" else float(entry)
                assert cost(names[row], names[column]) == value
                if row[0] == column[0] == "c" and row[1].isdigit() and column[1].isdigit():
                    assert cost(f"res{row[1]}", f"res{column[1]}") == value
                    np.testing.assert_allclose(cost(f"res{row[1]}", names[column]), 0.9 * value + 0.1, rtol=1e-12)
                checked += 1
            assert cost(names[row], "ip") == cost("op", names[row]) == np.inf
    assert checked == 49 + 64
    assert cost("ip", "ip") == cost("op", "op") == 0.0
