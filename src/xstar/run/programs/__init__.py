"""Any program as an objective: a command line with placeholders, run once per trial."""

from xstar.run.programs.command import Command as Command
