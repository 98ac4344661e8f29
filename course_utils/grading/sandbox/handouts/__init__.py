"""Files of checks inside a sandbox, and what the kernel says was done with them."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
