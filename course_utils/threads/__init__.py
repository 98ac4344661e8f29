"""The same loader with threads and with processes: speed, and the memory of all that load."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
