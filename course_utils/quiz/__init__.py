"""The questions that end a lesson: checked on the spot, without marks."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
