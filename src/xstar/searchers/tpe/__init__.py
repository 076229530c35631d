"""Tree-structured Parzen estimators."""
