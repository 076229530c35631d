"""When a suggestion of the GP explores: two thresholds, in standard deviations of the losses."""

from __future__ import annotations

UNEXPLAINED = 0.1
"""The standard deviation of the noise above which much of the losses is unexplained, in standard deviations of the losses.
Chosen on ``harness/development.py`` (``generality --part development``, 40 problems, two to three seeds): after 200 trials,
losses with this rule are lower in 48 searches and higher in 35 than if every fourth suggestion explores, 57 and 35 if every
eighth does, 28 and 22 if none does; after 25 it is 32 and 47, 45 and 54, 24 and 28.

That failures are unexplained, too, so that exploring follows them, has no support: on six functions with a region that fails
and five where one trial in ten or five fails by chance (ten seeds), searches without it end lower in 56 and higher in 32 after
25 trials, 58 and 47 after 50, 60 and 48 after 100, with as many failures or fewer; on one of the eleven (Levy's, of four
parameters) higher in nine of ten. Beside options every fourth suggestion explores as before: development problems with options
show no difference, and the bits of the validation set ended higher without (1 and 9 searches of 200 trials)."""
SPENT = 0.1
"""The expected improvement below which little is left to gain where the model looks. Beside counts of few values a model is
soon sure of a place, and wrong: on sixteen rotated functions most of whose parameters are counts (``harness/development.py``
has ten of them; 69 searches of 100 trials), searches in which every fourth suggestion then explores are lower in 32 and higher
in 25 after 25 trials, in 37 and 25 after 50, in 33 and 31 after 100; of those that differ by more than a fiftieth of the spread
in 17 and 18, 26 and 10, 22 and 11. With 0.05 they are lower in 17 and higher in 24 after 100 (47 searches); if every fourth
explores from the start, in 20 and 23 after 25, in 22 and 20 after 100 (46)."""
