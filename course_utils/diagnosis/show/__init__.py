"""The report: in a terminal, as a page, as a trace."""
