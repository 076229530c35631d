"""Pictures of studies: numbers in, the text of an SVG file out."""

from xstar.plots.architectures import distance_against_value as distance_against_value
from xstar.plots.architectures import network_map as network_map
from xstar.plots.regret import regret_chart as regret_chart
from xstar.plots.rungs import rungs_chart as rungs_chart
from xstar.plots.svg import Series as Series
from xstar.plots.svg import line_chart as line_chart
