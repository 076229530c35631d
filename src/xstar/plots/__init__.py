"""Pictures of studies.

    source      what a plot is made from, and the arrays that many need
    figure      a figure as plain data, as Plotly's JavaScript takes it
    kinds       the registry: each kind computes figure data from a study and draws them
    models      a forest and a Gaussian process of the plots' own
    output      figures for notebooks and files (Plotly, kaleido: at use)
    accessor    ``study.plot``

The names below draw SVG by hand, without any extra: for the documentation and the command line.
"""

from xstar.plots.architectures import distance_against_value as distance_against_value
from xstar.plots.architectures import network_map as network_map
from xstar.plots.regret import regret_chart as regret_chart
from xstar.plots.rungs import rungs_chart as rungs_chart
from xstar.plots.svg import Series as Series
from xstar.plots.svg import line_chart as line_chart
