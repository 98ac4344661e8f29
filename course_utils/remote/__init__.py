"""Objects behind HTTP: a server with a delay and faults, and readers of ranges, zips and cached pieces."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
