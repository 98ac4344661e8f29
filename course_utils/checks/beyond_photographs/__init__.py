"""Checks of the exercises of lesson 07, one module each."""

from course_utils.checks.core import find_checks

globals().update(find_checks(__name__))
