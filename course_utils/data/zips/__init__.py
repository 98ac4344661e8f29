"""Stored zips: their records and directory, and an index by which any thread or process reads members."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
