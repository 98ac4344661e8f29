"""The start page of the course: the lessons, what each needs, and how far one has come."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
