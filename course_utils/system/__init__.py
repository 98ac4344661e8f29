"""What the operating system provides: cores, forked children, memory, open files, threads, a compiler."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
