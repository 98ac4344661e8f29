"""Bring a student's clone to a newer version of the course, with all of their work kept."""
