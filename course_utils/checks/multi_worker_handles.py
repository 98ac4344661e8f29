"""What the exercises of lesson 02 are checked by."""

from course_utils.checks.handle_per_process import handle_per_process
from course_utils.checks.million_labels import million_labels
from course_utils.checks.operations_budget import operations_budget
from course_utils.checks.survives_spawn import survives_spawn

__all__ = ["handle_per_process", "million_labels", "operations_budget", "survives_spawn"]
