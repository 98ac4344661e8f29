"""The world of a check: what the judge keeps out of the student's process, and the handle to ask it by."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
