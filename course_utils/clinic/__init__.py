"""The clinic of lesson 06: ten short trainings, ill or healthy, to be named before the diagnosis names them.

    >>> from course_utils import clinic
    >>> clinic.show("c")                    # doctest: +SKIP
    >>> clinic.name("c", "no_workers")      # doctest: +SKIP

`python -m course_utils.clinic c` runs the diagnosis on one.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
