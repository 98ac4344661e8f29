"""What the check of `mend_train` does: runs of a script that is watched, and the verdict on them."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
