"""A model of reading data from a shared file system on 1 to 512 nodes, and of what more nodes gain."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
