"""Inspect an existing set: describe it, verify it against its manifest, or adopt one without a manifest."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
