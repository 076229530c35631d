"""The papers behind the parts of a study: what a report that uses it should cite, as text and as BibTeX."""

from __future__ import annotations

from dataclasses import dataclass

from xstar.core.version import VERSION
from xstar.journal.events import Created
from xstar.searchers import GP, SEARCHERS, Auto
from xstar.searchers.scalarised import HandlesGoals

SOFTWARE = f"""@software{{xstar,
  author = {{{{the xstar authors}}}},
  title = {{xstar}},
  version = {{{VERSION}}},
  year = {{2026}},
}}"""


@dataclass(frozen=True, slots=True)
class Paper:
    authors: str
    """``Given Family``, with ``and`` between them; ``and others`` at the end of a long list."""
    title: str
    venue: str
    year: int
    kind: str = "inproceedings"
    """Its BibTeX type; the venue of an ``article`` is its journal."""

    @property
    def text(self) -> str:
        """One line for a list of references."""
        names = self.authors.replace(" and others", " et al.").replace(" and ", ", ")
        return f"{names}{'' if names.endswith('.') else '.'} {self.title}. {self.venue}, {self.year}."

    def bibtex(self, key: str) -> str:
        """An entry, which LaTeX's programs read as UTF-8."""
        where = {"article": "journal", "inproceedings": "booktitle"}[self.kind]
        fields = {"author": self.authors, "title": f"{{{self.title}}}", where: self.venue, "year": str(self.year)}
        return "\n".join(
            [f"@{self.kind}{{{key},", *(f"  {name} = {{{value}}}," for name, value in fields.items()), "}"]
        )


ARXIV = "arXiv preprint arXiv:"
NEURIPS = "Advances in Neural Information Processing Systems"
ICML = "International Conference on Machine Learning"
AUTHORS_OF_NASBOT = (
    "Kirthevasan Kandasamy and Willie Neiswanger and Jeff Schneider and Barnabás Póczos and Eric P. Xing"
)

PAPERS = {
    "gp": Paper(
        "Jasper Snoek and Hugo Larochelle and Ryan P. Adams",
        "Practical Bayesian optimization of machine learning algorithms",
        NEURIPS,
        2012,
    ),
    "logei": Paper(
        "Sebastian Ament and Samuel Daulton and David Eriksson and Maximilian Balandat and Eytan Bakshy",
        "Unexpected improvements to expected improvement for Bayesian optimization",
        NEURIPS,
        2023,
    ),
    "ehvi": Paper(
        "Michael T. M. Emmerich and Kyriakos C. Giannakoglou and Boris Naujoks",
        "Single- and multiobjective evolutionary optimization assisted by Gaussian random field metamodels",
        "IEEE Transactions on Evolutionary Computation 10(4)",
        2006,
        "article",
    ),
    "parego": Paper(
        "Joshua Knowles",
        "ParEGO: a hybrid algorithm with on-line landscape approximation for expensive multiobjective optimization problems",
        "IEEE Transactions on Evolutionary Computation 10(1)",
        2006,
        "article",
    ),
    "thompson": Paper(
        "Kirthevasan Kandasamy and Akshay Krishnamurthy and Jeff Schneider and Barnabás Póczos",
        "Parallelised Bayesian optimisation via Thompson sampling",
        "International Conference on Artificial Intelligence and Statistics",
        2018,
    ),
    "mobster": Paper(
        "Aaron Klein and Louis C. Tiao and Thibaut Lienart and Cédric Archambeau and Matthias Seeger",
        "Model-based asynchronous hyperparameter and neural architecture search",
        f"{ARXIV}2003.10865",
        2020,
        "article",
    ),
    "dngo": Paper("Jasper Snoek and others", "Scalable Bayesian optimization using deep neural networks", ICML, 2015),
    "nasbot": Paper(
        AUTHORS_OF_NASBOT,
        "Neural architecture search with Bayesian optimisation and optimal transport",
        NEURIPS,
        2018,
    ),
    "treebo": Paper(
        "Rodolphe Jenatton and Cédric Archambeau and Javier González and Matthias Seeger",
        "Bayesian optimization with tree-structured dependencies",
        ICML,
        2017,
    ),
    "pbil": Paper(
        "Kouhei Nishida and Hernan Aguirre and Shota Saito and Shinichi Shirakawa and Youhei Akimoto",
        "Parameterless stochastic natural gradient method for discrete optimization and its application to "
        "hyper-parameter optimization for neural network",
        f"{ARXIV}1809.06517",
        2018,
        "article",
    ),
    "igo": Paper(
        "Yann Ollivier and Ludovic Arnold and Anne Auger and Nikolaus Hansen",
        "Information-geometric optimization algorithms: a unifying picture via invariance principles",
        "Journal of Machine Learning Research 18(18)",
        2017,
        "article",
    ),
    "tpe": Paper(
        "James Bergstra and Rémi Bardenet and Yoshua Bengio and Balázs Kégl",
        "Algorithms for hyper-parameter optimization",
        NEURIPS,
        2011,
    ),
    "bohb": Paper(
        "Stefan Falkner and Aaron Klein and Frank Hutter",
        "BOHB: robust and efficient hyperparameter optimization at scale",
        ICML,
        2018,
    ),
    "forest": Paper(
        "Frank Hutter and Holger H. Hoos and Kevin Leyton-Brown",
        "Sequential model-based optimization for general algorithm configuration",
        "Learning and Intelligent Optimization",
        2011,
    ),
    "cma": Paper("Nikolaus Hansen", "The CMA evolution strategy: a tutorial", f"{ARXIV}1604.00772", 2016, "article"),
    "margin": Paper(
        "Ryoki Hamano and Shota Saito and Masahiro Nomura and Shinichi Shirakawa",
        "CMA-ES with margin: lower-bounding marginal probability for mixed-integer black-box optimization",
        "Genetic and Evolutionary Computation Conference",
        2022,
    ),
    "evolution": Paper(
        "Esteban Real and Alok Aggarwal and Yanping Huang and Quoc V. Le",
        "Regularized evolution for image classifier architecture search",
        "AAAI Conference on Artificial Intelligence",
        2019,
    ),
    "random": Paper(
        "James Bergstra and Yoshua Bengio",
        "Random search for hyper-parameter optimization",
        "Journal of Machine Learning Research 13",
        2012,
        "article",
    ),
    "asha": Paper(
        "Liam Li and others",
        "A system for massively parallel hyperparameter tuning",
        "Machine Learning and Systems",
        2020,
    ),
    "mo-asha": Paper(
        "Robin Schmucker and Michele Donini and Muhammad Bilal Zafar and David Salinas and Cédric Archambeau",
        "Multi-objective asynchronous successive halving",
        f"{ARXIV}2106.12639",
        2021,
        "article",
    ),
    "hyperband": Paper(
        "Lisha Li and Kevin Jamieson and Giulia DeSalvo and Afshin Rostamizadeh and Ameet Talwalkar",
        "Hyperband: a novel bandit-based approach to hyperparameter optimization",
        "Journal of Machine Learning Research 18(185)",
        2018,
        "article",
    ),
    "median": Paper(
        "Daniel Golovin and others",
        "Google Vizier: a service for black-box optimization",
        "Knowledge Discovery and Data Mining",
        2017,
    ),
    "boca": Paper(
        "Kirthevasan Kandasamy and Gautam Dasarathy and Jeff Schneider and Barnabás Póczos",
        "Multi-fidelity Bayesian optimisation with continuous approximations",
        ICML,
        2017,
    ),
    "anova": Paper(
        "Frank Hutter and Holger Hoos and Kevin Leyton-Brown",
        "An efficient approach for assessing hyperparameter importance",
        ICML,
        2014,
    ),
}

OF_SEARCHERS = {
    "gp": ("gp", "logei"),
    "auto": ("gp", "logei", "dngo"),
    "mobster-paper": ("mobster",),
    "dngo": ("dngo",),
    "dngo-paper": ("dngo",),
    "nasbot": ("nasbot",),
    "nasbot-paper": ("nasbot",),
    "nasbot-random": ("nasbot",),
    "pbil": ("pbil", "igo"),
    "tpe": ("tpe",),
    "forest": ("forest",),
    "cma": ("cma", "margin"),
    "evolution": ("nasbot",),
    "regularised-evolution": ("evolution",),
    "random": ("random",),
    "treebo": ("treebo",),
    "boca": ("boca",),
}
OF_SCHEDULERS = {"asha": ("asha",), "asha-stop": ("asha",), "hyperband": ("hyperband",), "median": ("median",)}


def papers_of(created: Created) -> dict[str, Paper]:
    """The papers of a study's method, and of what its report shows, by key."""
    searcher, scheduler = str(created.searcher.get("name")), str(created.scheduler.get("name"))
    keys = [*OF_SEARCHERS.get(searcher, ()), *OF_SCHEDULERS.get(scheduler, ())]
    if searcher == "gp" and scheduler.startswith("asha"):
        keys.append("mobster")
    if searcher == "gp" and created.searcher.get("acquisition") == "thompson":
        keys.append("thompson")
    if searcher == "tpe" and scheduler in ("asha", "hyperband"):
        keys.append("bohb")
    if created.goals.several:
        keys += [*_of_fronts(created), *(["mo-asha"] if scheduler.startswith("asha") else [])]
    return {key: PAPERS[key] for key in dict.fromkeys([*keys, "anova"])}


def _of_fronts(created: Created) -> list[str]:
    """How the searcher chooses with several objectives: by the hypervolume, by a weighted sum, or by a way of its own."""
    if SEARCHERS.known(str(created.searcher.get("name"))) is None:
        return []
    searcher = SEARCHERS.load(created.searcher)
    if isinstance(searcher, Auto):  # a GP first, DNGO later
        return ["ehvi", "parego"]
    if not (isinstance(searcher, HandlesGoals) and searcher.handles(created.goals)):
        return ["parego"]
    return ["ehvi"] if isinstance(searcher, GP) else []


def cited(created: Created) -> list[str]:
    """The same as lines of a list."""
    return [paper.text for paper in papers_of(created).values()]


def bibtex(created: Created) -> str:
    """The same as BibTeX, the software first."""
    return "\n\n".join([SOFTWARE, *(paper.bibtex(key) for key, paper in papers_of(created).items())])
