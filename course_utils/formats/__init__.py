"""The same samples in a dozen packed formats, one small class each: write, open, read."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
