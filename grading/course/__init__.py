"""The course as the grader sees it: its configuration, its lessons, its stored results."""
