"""NASBOT: Bayesian optimisation of architectures."""
