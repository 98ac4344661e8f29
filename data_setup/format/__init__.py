"""Format of a set on disk: layout, manifest, errors, and how files are written atomically."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
