"""What all experiments share: methods and problems by name, the loop over runs, their records, and tables made from them.

Reading order: ``records.py`` (what a run is and how it is kept), ``run.py`` (the loop), ``report.py`` (tables),
``experiment.py`` (the command line that joins them), then ``methods.py`` and ``problems.py`` (what is run on what). The first
four import the standard library alone, so that an experiment may run on a machine that has only what it needs itself.
"""
