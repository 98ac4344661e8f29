"""Looking at a set that is there: verify, adopt, compare its forms, describe it."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
