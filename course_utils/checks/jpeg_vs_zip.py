"""What the exercises of lesson 01 are checked by: one name for each graded cell."""

from course_utils.checks.cold_and_warm import cold_and_warm
from course_utils.checks.json_labels import json_labels
from course_utils.checks.raw_pixels import raw_pixels
from course_utils.checks.stored_zip import stored_zip

__all__ = ["cold_and_warm", "json_labels", "raw_pixels", "stored_zip"]
