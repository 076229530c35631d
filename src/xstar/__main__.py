"""``python -m xstar``: the program ``xstar`` of this interpreter, wherever its scripts are."""

from xstar.cli.entry import main

main()
