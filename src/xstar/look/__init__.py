"""Looking at a stored study: audit, exchange with other formats, report."""
