"""What keeps a submission apart from the machine: sandbox backends, namespaces, control groups, limits."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
