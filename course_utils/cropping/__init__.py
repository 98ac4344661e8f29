"""Cut parts out of images: random parameters, decoding of only what is needed, antialiased resizing."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
