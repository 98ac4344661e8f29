"""The sandbox that runs submissions: its backends, the fork server inside, the client outside."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
