"""What the exercises of lesson 00 are checked by."""

from course_utils.checks.lazy_dataset import lazy_dataset
from course_utils.checks.reproducible_loader import reproducible_loader

__all__ = ["lazy_dataset", "reproducible_loader"]
