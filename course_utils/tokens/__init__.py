"""Tokens: a set of documents in a memory map, and what padding and packing compute."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
