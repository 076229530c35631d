"""Bayesian optimisation, whatever the surrogate: from the history to a suggestion. Begin with ``suggest.py``."""
