"""Lesson 01: the checks of its exercises, one module each."""

from course_utils.checks.core import find_checks

globals().update(find_checks(__name__))
