"""Create a set from a source: render, pack and publish it; resumable at any point."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
