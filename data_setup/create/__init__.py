"""Create a set from a source: workers render images, shards grow, and the finished set is published."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
