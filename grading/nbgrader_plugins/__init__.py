"""Plug-ins for nbgrader and calls of nbgrader: preprocessor, exporter, gradebook, feedback, release."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
