#!/bin/bash
# The same without JSON and without checkpoints: "$XSTAR_REPORT" waits for the verdict and exits with 3 when the trial shall end.
#
#     bash report.sh LR
for epoch in $(seq "${XSTAR_BUDGET:-27}"); do
    loss=$(awk -v lr="$1" -v e="$epoch" 'BEGIN { d = log(lr / 0.01); print 0.1 + 0.01 * d * d + exp(-e / 5) }')
    "${XSTAR_REPORT:-echo}" loss="$loss" epoch="$epoch" || exit
done
