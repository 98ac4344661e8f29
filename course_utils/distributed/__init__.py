"""Training on many ranks: torchrun, checkpoints, batch scripts that survive a time limit, resuming."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
