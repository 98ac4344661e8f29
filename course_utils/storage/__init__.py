"""Count file operations, measure and evict the page cache, and model a shared file system."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
