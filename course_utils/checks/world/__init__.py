"""The world of a check: what the judge keeps out of the student's process, and the handle to ask it by."""
