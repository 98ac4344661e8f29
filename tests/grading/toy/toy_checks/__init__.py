"""Checks of a toy lesson: cheap, with evidence that only a right answer returns."""
