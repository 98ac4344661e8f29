"""Loaders: DataLoader settings, the fast loader with its sampler and buffers, prefetching to a device."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
