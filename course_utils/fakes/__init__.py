"""Simulated hardware with scripted durations: a CUDA device and a training machine."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
