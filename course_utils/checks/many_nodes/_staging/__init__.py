"""What the check of `stage` does: calls, situations, and the verdict on what they led to."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
