"""What the exercises of lesson 03 are checked by: one name for each graded cell."""

from course_utils.checks.broken_images import broken_images
from course_utils.checks.honest_timer import honest_timer
from course_utils.checks.predicted_throughput import predicted_throughput
from course_utils.checks.prefetcher import prefetcher

__all__ = ["broken_images", "honest_timer", "predicted_throughput", "prefetcher"]
