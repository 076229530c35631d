"""The papers behind the parts of a study: what a report that uses it should cite."""

from __future__ import annotations

from xstar.journal.events import Created

PAPERS = {
    "gp": "J. Snoek, H. Larochelle, R. P. Adams. Practical Bayesian optimization of machine learning algorithms. NeurIPS 2012.",
    "logei": "S. Ament et al. Unexpected improvements to expected improvement for Bayesian optimization. NeurIPS 2023.",
    "mobster": "A. Klein, L. C. Tiao, T. Lienart, C. Archambeau, M. Seeger. Model-based asynchronous hyperparameter and neural "
    "architecture search. arXiv:2003.10865, 2020.",
    "dngo": "J. Snoek et al. Scalable Bayesian optimization using deep neural networks. ICML 2015.",
    "nasbot": "K. Kandasamy, W. Neiswanger, J. Schneider, B. Póczos, E. P. Xing. Neural architecture search with Bayesian "
    "optimisation and optimal transport. NeurIPS 2018.",
    "pbil": "K. Nishida, H. Aguirre, S. Saito, S. Shirakawa, Y. Akimoto. Parameterless stochastic natural gradient method for "
    "discrete optimization and its application to hyper-parameter optimization for neural network. arXiv:1809.06517, 2018.",
    "tpe": "J. Bergstra, R. Bardenet, Y. Bengio, B. Kégl. Algorithms for hyper-parameter optimization. NeurIPS 2011.",
    "bohb": "S. Falkner, A. Klein, F. Hutter. BOHB: Robust and efficient hyperparameter optimization at scale. ICML 2018.",
    "forest": "F. Hutter, H. H. Hoos, K. Leyton-Brown. Sequential model-based optimization for general algorithm "
    "configuration. LION 2011.",
    "cma": "N. Hansen. The CMA evolution strategy: a tutorial. arXiv:1604.00772, 2016.",
    "evolution": "E. Real, A. Aggarwal, Y. Huang, Q. V. Le. Regularized evolution for image classifier architecture search. "
    "AAAI 2019.",
    "random": "J. Bergstra, Y. Bengio. Random search for hyper-parameter optimization. JMLR 13, 2012.",
    "asha": "L. Li et al. A system for massively parallel hyperparameter tuning. MLSys 2020.",
    "hyperband": "L. Li, K. Jamieson, G. DeSalvo, A. Rostamizadeh, A. Talwalkar. Hyperband: a novel bandit-based approach to "
    "hyperparameter optimization. JMLR 18, 2018.",
    "median": "D. Golovin et al. Google Vizier: a service for black-box optimization. KDD 2017.",
    "treebo": "R. Jenatton, C. Archambeau, J. González, M. Seeger. Bayesian optimization with tree-structured dependencies. "
    "ICML 2017.",
    "boca": "K. Kandasamy, G. Dasarathy, J. Schneider, B. Póczos. Multi-fidelity Bayesian optimisation with continuous "
    "approximations. ICML 2017.",
    "anova": "F. Hutter, H. Hoos, K. Leyton-Brown. An efficient approach for assessing hyperparameter importance. ICML 2014.",
}

SEARCHERS = {
    "gp": ("gp", "logei"),
    "auto": ("gp", "logei", "dngo"),
    "mobster-paper": ("mobster",),
    "dngo": ("dngo",),
    "dngo-paper": ("dngo",),
    "nasbot": ("nasbot",),
    "nasbot-paper": ("nasbot",),
    "nasbot-random": ("nasbot",),
    "pbil": ("pbil",),
    "tpe": ("tpe",),
    "forest": ("forest",),
    "cma": ("cma",),
    "evolution": ("nasbot",),
    "regularised-evolution": ("evolution",),
    "random": ("random",),
    "treebo": ("treebo",),
    "boca": ("boca",),
}
SCHEDULERS = {"asha": ("asha",), "asha-stop": ("asha",), "hyperband": ("hyperband",), "median": ("median",)}


def cited(created: Created) -> list[str]:
    """The papers of a study's method, and of what its report shows."""
    searcher, scheduler = str(created.searcher.get("name")), str(created.scheduler.get("name"))
    keys = [*SEARCHERS.get(searcher, ()), *SCHEDULERS.get(scheduler, ())]
    if searcher == "gp" and scheduler.startswith("asha"):
        keys.append("mobster")
    if searcher == "tpe" and scheduler in ("asha", "hyperband"):
        keys.append("bohb")
    return [PAPERS[key] for key in dict.fromkeys([*keys, "anova"])]
