from .adopt import adopt_set as adopt_set
from .info import describe_set as describe_set
from .verify import find_problems as find_problems
