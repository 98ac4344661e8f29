"""Generators of the drawings and the tiny image set that lesson 01 ships."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
