"""Pictures of studies.

source      what a plot is made from, and the arrays that many need
figure      a figure as plain data, as Plotly's JavaScript takes it
kinds       the registry: each kind computes figure data from a study and draws them; ``study.plot``
models      a forest and a Gaussian process of the plots' own
output      figures for notebooks and files (Plotly, kaleido: at use)
"""
