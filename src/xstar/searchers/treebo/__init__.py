"""TreeBO: Bayesian optimisation of feed-forward networks."""
