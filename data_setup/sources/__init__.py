"""Where images come from: archives and folders, labels, collections, photographs, drawings."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
