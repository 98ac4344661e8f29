"""Making a set: worker processes render images, shards grow, and the set is published."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
