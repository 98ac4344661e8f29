"""From submissions to results: the scorer, local and Slurm runs, reports, regrades."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
