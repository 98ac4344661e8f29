"""What all checks share: the check itself, evidence as plain data, drawn inputs, observation of code."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
