"""What a search looks like while it runs: on a terminal, in a notebook, in a log file.

    tracker     what is new since the last look, how fast it goes, how long it may still take
    lines       a line per trial, in a log
    terminal    a live table (rich)
    notebook    the same table in the output of a cell (IPython)
    choice      which of them, if any

Neither rich nor IPython is imported before something is shown.
"""

from xstar.look.progress.choice import check_progress as check_progress, show_progress as show_progress
from xstar.look.progress.tracker import Progress as Progress, Tracker as Tracker
