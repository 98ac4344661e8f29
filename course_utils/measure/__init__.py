"""Measurements: benchmark a loader, report the results, headroom, utilisation of the device."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
