from .adopt import adopt_set as adopt_set
from .info import report as report
from .verify import problems as problems
