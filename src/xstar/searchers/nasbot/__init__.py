"""Bayesian optimisation of architectures."""
