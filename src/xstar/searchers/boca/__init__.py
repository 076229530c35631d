"""BOCA: Bayesian optimisation that chooses the budget, too."""
