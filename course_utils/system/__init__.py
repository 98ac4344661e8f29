"""The machine: usable cores, forked children, memory, open files, threads, compilers."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
