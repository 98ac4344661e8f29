"""Links in the texts of lessons: to the glossary, to programs and libraries, to the package's sources."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
