"""Code shared by searchers with a surrogate: observations, outcomes, initial design, decision, networks."""
