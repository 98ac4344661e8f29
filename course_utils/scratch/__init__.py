"""Node-local storage: what it is, where sites have it, and how a data set gets there once per node."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
