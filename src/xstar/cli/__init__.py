"""The command line: everything a study can do, for a Python file. Typer and rich are imported here and nowhere else."""
