"""What every part may use: names of parts, random streams, metrics, checks of arguments, the version."""
