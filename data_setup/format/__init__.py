"""The format of a set on disk: layout, manifest, errors, atomic writes."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
