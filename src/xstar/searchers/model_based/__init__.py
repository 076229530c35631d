"""What searchers with a surrogate share: observations, outcomes, initial design, decision, networks."""
