"""Validate a notebook as grading does: what of a demonstration runs, found from its source."""
