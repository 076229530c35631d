"""Bayesian optimisation with a Gaussian process."""
