"""Grading: collect, run in a sandbox, judge outside, write the gradebook, return feedback."""
