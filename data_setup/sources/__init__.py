"""Sources of images: a seeded sample of a collection, or crops of the photographs in installed packages."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
