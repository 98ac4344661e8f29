"""Grading: collect, run in a sandbox, judge outside, write the gradebook, return feedback."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
