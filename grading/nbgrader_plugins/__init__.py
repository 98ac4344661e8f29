"""Plug-ins for nbgrader and calls of nbgrader: preprocessor, exporter, gradebook, feedback, release."""
