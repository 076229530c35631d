"""Bayesian optimisation with a neural network's last layer."""
