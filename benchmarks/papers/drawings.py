"""The pictures of the results page that are drawn from records."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory

import xstar as xs
from benchmarks.cotrain import PAPER as MNIST
from benchmarks.cotrain import counted
from benchmarks.harness.records import FOLDER, best_after
from benchmarks.multifidelity import METHODS as SCHEDULES
from benchmarks.nasbot_uci import PAPER as UCI_PAPER
from benchmarks.papers import curves, findings_dngo, findings_igo, findings_mobster, findings_nasbot
from benchmarks.papers import nasbot_records as nasbot
from benchmarks.papers.igo import longest
from benchmarks.papers.mobster_records import SCHEDULERS
from benchmarks.papers.sources import cell
from benchmarks.workloads import cifar_training
from benchmarks.workloads.nasbot_models import SCALES
from xstar import nets
from xstar.inspect.exchange import import_events
from xstar.journal import History
from xstar.nets.draw import svg
from xstar.plots.architectures import distance_against_value, network_map
from xstar.plots.svg import Series, line_chart


def all_of_them() -> dict[str, str]:
    """File name → SVG, of what is on record."""
    made: dict[str, Callable[[], str]] = {}
    if nasbot.SEARCH.found:
        made |= {nasbot.FIGURE2: figure2}
        made |= {
            name: partial(winner, method)
            for method, name in nasbot.FOUND.items()
            if nasbot.SEARCH.results.of(method=method)
        }
        trained = trained_networks()
        made |= {
            nasbot.FIGURE4: partial(network_map, trained),
            nasbot.FIGURE6: partial(distance_against_value, trained),
        }
    made |= {
        findings_nasbot.EIGENVALUES: spectra,
        findings_nasbot.ARRIVALS: arrivals,
        findings_mobster.RANKS: ranks,
        findings_dngo.COVERAGE: coverage,
        findings_igo.UNITS: units,
    }
    made |= {name: partial(lowest_so_far, problem) for problem, name in findings_nasbot.LOWEST.items()}
    return {name: draw() for name, draw in (made | curves.all_of_them()).items()}


def figure2() -> str:
    """Validation errors of the best network so far; the mean over seeds of complete searches."""
    series = []
    for method in nasbot.SEARCH.results.methods:
        runs = nasbot.SEARCH.results.of(method=method)
        counts = range(1, 1 + min(record.task["evaluations"] for record in runs))
        errors = [[best_after(record.found["best"], n) for record in runs] for n in counts]
        series.append(
            Series(f"{method} ({len(runs)})", list(counts), [statistics.mean(each) for each in errors], steps=True)
        )
    return line_chart(
        series,
        title="CIFAR-10: validation error of the best network so far",
        subtitle="mean over seeds (their number in brackets); searches that are complete",
        x_label="networks trained",
    )


def winner(method: str) -> str:
    """The network of the complete searches of a method with the lowest validation error."""
    best = min(nasbot.SEARCH.results.of(method=method), key=lambda record: record.found["best"][-1][1])
    return svg(nets.Graph.from_json(best.found["pick"]))


def trained_networks() -> History:
    """All networks that the searches on CIFAR-10 trained, complete or not, with their validation errors."""
    gathered = xs.Study(xs.Space(net=cifar_training.domain()))
    for file in sorted((FOLDER / "nasbot_cifar").glob("*.jsonl")):
        with TemporaryDirectory() as folder:
            storage = Path(folder) / "xstar.db"
            import_events(file.read_text(encoding="utf-8").splitlines(), file.stem, storage)
            for trial in xs.Study.open(file.stem, storage).trials:
                if trial.value is not None:
                    gathered.add(trial.config, trial.value)
    return gathered.history


def spectra() -> str:
    series = []
    for power in (1.0, 2.0):
        for domain in findings_nasbot.SPECTRA.results.problems:
            found = [record.found["lowest"][f"{power:g}"] for record in findings_nasbot.SPECTRA.results.of(domain)]
            means = [statistics.mean(column) for column in zip(*found, strict=True)]
            series.append(Series(f"{domain}, p̄ = {power:g}", SCALES, means))
    return line_chart(
        series,
        title="The lowest eigenvalue of exp(-Σ β d̄^p̄)",
        subtitle="120 random networks, diagonal 1, mean of the draws; a covariance has none below 0",
        x_label="β",
        log_x=True,
    )


def coverage() -> str:
    sizes = findings_dngo.sizes("hartmann6")

    def over(model: str) -> Sequence[float]:
        return [findings_dngo.covered("hartmann6", n, model) for n in sizes]

    series = [Series(name, sizes, over(model)) for model, name in findings_dngo.MODELS.items()]
    return line_chart(
        series,
        title="How often 95 % intervals hold the truth",
        subtitle="Hartmann's function in six dimensions; tanh",
        x_label="observations",
        log_x=True,
        x_ticks=sizes,
        y_range=(0.0, 1.0),
    )


def ranks() -> str:
    shares = [0.125, 0.25, 0.5, 1.0]
    series = [
        Series(method, shares, [cell(SCHEDULERS, method, name) for name in findings_mobster.SHARES])
        for method in SCHEDULES
    ]
    return line_chart(
        series,
        title="Mean rank of the regret among six schedulers",
        subtitle="seven problems, ten seeds, random configurations; 1 is best",
        x_label="share of the time",
        log_x=True,
        x_ticks=shares,
    )


def units() -> str:
    curve, seeds = longest("activations")
    moments = [moment["iteration"] for moment in curve]
    series = [
        Series(name, moments, [statistics.median(moment[name]["error"]) for moment in curve])
        for name in MNIST["activations"]
    ]
    return curves.over_iterations(series, "MNIST, tanh or ReLU for each unit", counted(seeds))


def arrivals() -> str:
    most = nasbot.CARRIES.found[0].task["evaluations"]
    counts = list(range(most + 1))
    series = [
        Series(name, counts, findings_nasbot.arrived(method, most), steps=True)
        for method, name in findings_nasbot.CURVES.items()
    ]
    return line_chart(
        series,
        title="Searches that have found one of the six best cells",
        subtitle="share of them, mean of three data sets of NAS-Bench-201; NASBOT by its kernel, and evolution",
        x_label="networks evaluated",
        y_range=(0.0, 1.0),
    )


UCI = {"naval": "Naval propulsion", "protein": "Protein structure"}


def lowest_so_far(problem: str) -> str:
    series = [
        Series(method, list(range(1, len(errors) + 1)), list(accumulate(errors, min)), steps=True)
        for method, errors in findings_nasbot.trained_errors(problem).items()
    ]
    return line_chart(
        series,
        title=f"{UCI[problem]}: the lowest validation error so far",
        subtitle=f"seed 0; the first ten networks are those of the initial pool; the paper: {UCI_PAPER[problem]['nasbot']:g}",
        x_label="networks trained",
        log_y=True,
    )
