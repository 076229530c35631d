"""MOBSTER (Klein et al. 2020), figure by figure. The paper prints curves, no numbers: its claims are compared."""

from __future__ import annotations

from benchmarks.papers.entry import Entry, Paper
from benchmarks.papers.mobster_claims import (
    baseline_rows,
    cell_rows,
    mlp_rows,
    scheduler_rows,
    share_rows,
    surrogate_rows,
)
from benchmarks.papers.mobster_records import (
    BASELINES,
    BASELINES_CELLS,
    BASELINES_LONGER,
    BASELINES_MLP,
    FIGURE3_CELLS,
    FIGURE3_MLP,
    FIGURE5_CELLS,
    FIGURE5_MLP,
    HALVING,
    HALVING_CELLS,
    HALVING_MLP,
    KERNEL_SEEDS,
    LARGE,
    SCHEDULERS,
    SHARES,
    SIGNS,
    SURROGATES,
)

TWO_RUNGS = (
    "NAS-Bench-201 has losses after 12 epochs (a schedule of its own, from which no training goes on) and after 200 in the "
    "data at hand, so two rungs; true curves of every epoch are there of three cells only."
)
PAPER = Paper(
    "MOBSTER",
    "Klein et al. (2020), *Model-based Asynchronous Hyperparameter and Neural Architecture Search*.",
    (
        Entry(
            "Figures 1, 2, 7, 8, 9: synchronous and asynchronous, stopping and promotion; Tables 1 to 4: search spaces",
            "Illustrations, and the spaces of the MLP, the ResNet, the LSTM and NAS-Bench-201.",
            "The illustrations from our schedulers: [Schedulers](schedulers.md). Of the spaces, those of the MLP and of "
            "NAS-Bench-201 are here: [Problems](problems.md).",
        ),
        Entry(
            "Figures 3 and 5 on the MLP itself",
            "The MLP on electricity, 4 workers, 81 epochs, 20 runs.",
            "A table of 2,048 MLPs that were trained on a GPU (`python -m benchmarks.electricity_table`), each configuration "
            "with the curve of the nearest; simulated time. Six trainings per worker, which are 402 s, and in the second table "
            "24, since the paper's searches seem to last longer: it calls the first 500 s the early phase. Figure 3 has the "
            "paper's ladder, rungs at 1, 3, 9, 27 and 81 epochs, Figure 5 every method as its name gives it here (*ts* and "
            "*boca* stand for Dragonfly).",
            (BASELINES_MLP, BASELINES_LONGER, HALVING_MLP),
            mlp_rows,
            pictures=(
                (FIGURE5_MLP, "Figure 5 on the MLP: the mean regret of all baselines over time"),
                (FIGURE3_MLP, "Figure 3 on the MLP: the mean regret of halving and Hyperband over time"),
            ),
        ),
        Entry(
            "Figures 3, 5 and 10 on NAS-Bench-201",
            "The cells of NAS-Bench-201, 8 workers, 20 runs; CIFAR-10 in Figures 3 and 5, the other data sets in Figure 10.",
            f"Four trainings per worker in simulated time; *ts* and *boca* stand for Dragonfly. {TWO_RUNGS} So r_min is 12. "
            "Figure 3 has the paper's rules of ASHA, which promote a third from 12 epochs on; Figure 5 every method as its "
            "name gives it here, where fewer are promoted to a rung that is so far away. So `asha` and `mobster` differ "
            "between the two tables.",
            (BASELINES_CELLS, HALVING_CELLS),
            cell_rows,
            pictures=(
                (FIGURE5_CELLS, "Figure 5 on NAS-Bench-201, CIFAR-10: the mean regret of all baselines over time"),
                (
                    FIGURE3_CELLS,
                    "Figure 3 on NAS-Bench-201, CIFAR-10: the mean regret of halving and Hyperband over time",
                ),
            ),
        ),
        Entry(
            "Figure 3: successive halving or Hyperband, promotion or stopping",
            "On the MLP (electricity) and on NAS-Bench-201, r_min = 1 is as good as or better than Hyperband.",
            "Problems besides these two, with the paper's ladder; eight workers, four trainings per worker. The second table: "
            "four LCBench surrogates and NAS-Bench-201, twenty trainings, random configurations; the third, how much the first "
            f"rungs say. {TWO_RUNGS}",
            (HALVING, SCHEDULERS, SIGNS),
            scheduler_rows,
        ),
        Entry(
            "Figure 4, top: surrogates",
            "Matérn and three kinds of exponential decay under promotion and stopping.",
            f"The MLP and 16 other problems in simulated time, four workers, {KERNEL_SEEDS} seeds (the paper: 20), our "
            "ladder. *mobster*, *mobster-stop*, *asha* and *asha-stop* are of a later commit than the other kernels, with "
            "other rules of promotion: compare the kernels with names of their own with each other.",
            (SURROGATES,),
            surrogate_rows,
        ),
        Entry(
            "Figure 4, bottom; Figure 10: against ASHA, with more and more workers",
            "MOBSTER reaches ASHA's accuracy sooner, with 2 to 16 workers.",
            "Simulated time on the MLP, LCBench surrogates, Klein's CNN curves and NAS-Bench-201; six trainings per worker. "
            "With 16 workers there is one seed, and with 64 one, both of earlier commits than with 2 to 8. "
            f"{TWO_RUNGS}",
            (*SHARES.values(), LARGE),
            share_rows,
        ),
        Entry(
            "Figure 5: all baselines",
            "RS, BO, BOHB, Hyperband, ASHA, Dragonfly; 20 runs each.",
            "Problems besides the MLP and NAS-Bench-201, eight workers, four trainings per worker; *ts* and *boca* stand for "
            "Dragonfly.",
            (BASELINES,),
            baseline_rows,
        ),
        Entry(
            "Figure 6: LSTM and ResNet",
            "MOBSTER ahead of ASHA, synchronous Hyperband and BOHB on a ResNet on CIFAR-10 (27 epochs), and of ASHA and BOHB "
            "on an LSTM on WikiText-2 (81 epochs).",
            "What comes nearest are the recorded curves of Klein's CNNs on CIFAR-10, `klein-cnn`, under Figure 4, bottom.",
            missing="WikiText-2 is not at hand, and one search of the LSTM took the paper five days of a GPU. The ResNet's "
            "searches would take hours of one, of which there were half-hours; they went to NASBOT's networks.",
        ),
    ),
    "mobster.md",
)
