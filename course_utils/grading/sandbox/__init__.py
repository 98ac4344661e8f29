"""Where a submission runs: sandbox backends, the fork server in one, and the client outside of it."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
