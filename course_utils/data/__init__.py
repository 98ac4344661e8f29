"""Datasets of images and their formats: JPEG files, stored zips, raw pixels, synthetic images; transforms."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
