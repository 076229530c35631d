"""The results page: every table and figure of the four papers beside what was measured here, made from the records."""
