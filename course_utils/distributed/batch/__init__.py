"""Batch scripts for Slurm that survive their time limit, and a stand-in where there is no Slurm."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
