"""Validate a notebook as grading does: what of a demonstration runs, found from its source."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
