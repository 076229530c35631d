"""Bayesian optimisation with a random forest."""
