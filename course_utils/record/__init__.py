"""Records of real machines: file systems and GPUs, measured where the lessons only have a model.

`python -m course_utils.record` measures this machine; lessons draw what was recorded beside their models.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
