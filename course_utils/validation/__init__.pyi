from .definitions import defined_names as defined_names
from .definitions import extract_definitions as extract_definitions
from .definitions import free_names as free_names
from .definitions import meaning as meaning
from .definitions import used_names as used_names
from .demonstrations import keep_definitions as keep_definitions
from .demonstrations import mark_demonstration as mark_demonstration
