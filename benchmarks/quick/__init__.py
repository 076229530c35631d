"""The headline ratios of the benchmarks in a few minutes: ``python -m benchmarks.quick``, or ``make bench-quick``."""
