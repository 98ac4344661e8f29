"""Data loaders: DataLoaders with consistent settings, and FastLoader with its transform of whole batches."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
