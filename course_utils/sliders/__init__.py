"""Sliders for the models of the lessons; without a front end that can show them, a picture stands in."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
