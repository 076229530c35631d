#!/bin/bash
# A training that is a shell script: gradient descent in awk. Every epoch is saved, reported, and may be the last.
#
#     bash train.sh LR MOMENTUM
#
# Without xstar it prints a curve; the variables below are those of docs/programs.md.
lr=$1 momentum=${2:-0}
checkpoint=${XSTAR_CHECKPOINT:-/tmp/any-program-$$}/state
mkdir -p "${checkpoint%/*}"

epoch=0 x=4 speed=0
[ -e "$checkpoint" ] && read -r epoch x speed < "$checkpoint" # paused or killed earlier: go on from there

while [ "$epoch" -lt "${XSTAR_BUDGET:-27}" ]; do
    epoch=$((epoch + 1))
    read -r x speed loss < <(awk -v x="$x" -v v="$speed" -v lr="$lr" -v m="$momentum" 'BEGIN {
        for (step = 0; step < 10; step++) { v = m * v - lr * (2 * (x - 1) + 0.3 * cos(9 * x)); x += v }
        print x, v, (x - 1) ^ 2 + 0.033 * sin(9 * x) }')
    echo "$epoch $x $speed" > "$checkpoint.tmp" && mv "$checkpoint.tmp" "$checkpoint" # save before you report
    echo "{\"loss\": $loss, \"epoch\": $epoch}"
done
